package server

import (
	"bufio"
	"bytes"
	"encoding/gob"
	"fmt"
	"io"
	"net/rpc"
	"strconv"
)

// gobs answers net/rpc in its own encoding.
func gobs(c io.ReadWriteCloser) error {
	defer c.Close()
	in, out := bufio.NewReaderSize(c, readSize), bufio.NewWriterSize(c, outMax)
	decode, encode := gob.NewDecoder(in), gob.NewEncoder(out)
	var body []byte
	for {
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return gone(err)
			}
		}
		var request rpc.Request
		if err := decode.Decode(&request); err != nil {
			return gone(err)
		}
		body = body[:0]
		if err := decode.Decode(&body); err != nil {
			return gone(err)
		}
		response := rpc.Response{ServiceMethod: request.ServiceMethod, Seq: request.Seq}
		if err := encode.Encode(&response); err != nil {
			return gone(err)
		}
		if err := encode.Encode(body); err != nil {
			return gone(err)
		}
	}
}

// resp answers ECHO of Redis' protocol, and everything else with OK; HELLO with
// what a client wants to know of a server.
func resp(c io.ReadWriteCloser) error {
	var words [][]byte
	return burst(c, func(in, out []byte) (int, []byte, error) {
		words = words[:0]
		head, taken := line(in)
		if taken == 0 {
			return 0, out, nil
		}
		n, err := length(head, '*')
		if err != nil {
			return 0, nil, err
		}
		for range n {
			head, more := line(in[taken:])
			if more == 0 {
				return 0, out, nil
			}
			size, err := length(head, '$')
			if err != nil {
				return 0, nil, err
			}
			if len(in) < taken+more+size+2 {
				return 0, out, nil
			}
			words = append(words, in[taken+more:taken+more+size])
			taken += more + size + 2
		}
		if len(words) == 0 {
			return taken, out, nil
		}
		switch {
		case len(words) == 2 && string(words[0]) == "ECHO":
			out = strconv.AppendInt(append(out, '$'), int64(len(words[1])), 10)
			out = append(append(append(out, "\r\n"...), words[1]...), "\r\n"...)
		case string(words[0]) == "HELLO":
			out = append(out, "%2\r\n$7\r\nversion\r\n$5\r\n7.4.0\r\n$5\r\nproto\r\n:3\r\n"...)
		case string(words[0]) == "PING":
			out = append(out, "+PONG\r\n"...)
		default:
			out = append(out, "+OK\r\n"...)
		}
		return taken, out, nil
	})
}

func length(head []byte, kind byte) (int, error) {
	if len(head) < 2 || head[0] != kind {
		return 0, fmt.Errorf("server: resp: %.80q, want %c", head, kind)
	}
	return strconv.Atoi(string(head[1:]))
}

// nats answers what is published with a reply subject, as a server with an echo
// behind it would. The one subscription that a client's requests share is told by
// its subject's prefix.
func nats(c io.ReadWriteCloser) error {
	const info = `INFO {"server_id":"echo","server_name":"echo","version":"2.15.3","proto":1,"headers":true,"max_payload":1048576}` + "\r\n"
	if _, err := io.WriteString(c, info); err != nil {
		return gone(err)
	}
	var sid []byte
	return burst(c, func(in, out []byte) (int, []byte, error) {
		head, taken := line(in)
		if taken == 0 {
			return 0, out, nil
		}
		words := bytes.Fields(head)
		if len(words) == 0 {
			return taken, out, nil
		}
		switch string(words[0]) {
		case "PING":
			out = append(out, "PONG\r\n"...)
		case "SUB":
			sid = append(sid[:0], words[len(words)-1]...)
		case "PUB":
			size := words[len(words)-1]
			n, err := strconv.Atoi(string(size))
			if err != nil {
				return 0, nil, fmt.Errorf("server: nats: %.80q: %w", head, err)
			}
			if len(in) < taken+n+2 {
				return 0, out, nil
			}
			if len(words) == 4 {
				out = append(append(append(out, "MSG "...), words[2]...), ' ')
				out = append(append(append(append(out, sid...), ' '), size...), "\r\n"...)
				out = append(out, in[taken:taken+n+2]...)
			}
			taken += n + 2
		}
		return taken, out, nil
	})
}

// http answers HTTP/1.1 with the body.
func http(c io.ReadWriteCloser) error {
	field := []byte("\r\nContent-Length: ")
	return burst(c, func(in, out []byte) (int, []byte, error) {
		end := bytes.Index(in, []byte("\r\n\r\n"))
		if end < 0 {
			return 0, out, nil
		}
		at := bytes.Index(in[:end], field)
		if at < 0 {
			return 0, nil, fmt.Errorf("server: http: no length in %.200q", in[:end])
		}
		size, _, _ := bytes.Cut(in[at+len(field):end], []byte("\r"))
		n, err := strconv.Atoi(string(size))
		if err != nil {
			return 0, nil, fmt.Errorf("server: http: %w", err)
		}
		taken := end + 4 + n
		if len(in) < taken {
			return 0, out, nil
		}
		out = append(append(out, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: "...), size...)
		return taken, append(append(out, "\r\n\r\n"...), in[end+4:taken]...), nil
	})
}
