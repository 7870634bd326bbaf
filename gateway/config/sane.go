package config

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// What is found here would otherwise be found by those who use the values: when the
// gateway starts, with the first call to an upstream, or by nobody.

const (
	// minLease is that of gateway/cluster: the pauses that are parts of a lease need room.
	minLease = 500 * time.Millisecond
	// maxUnixPath is the longest path of a socket, on Linux.
	maxUnixPath = 107
)

// oddPort says what is wrong with the port of an address, "" if it is good. Zero has the
// system choose one, which is for those who listen.
func oddPort(port string, listens bool) string {
	n, err := strconv.ParseUint(port, 10, 16)
	switch {
	case err != nil:
		return "the port must be from 1 to 65535"
	case n == 0 && !listens:
		return "the port must not be 0"
	}
	return ""
}

// oddHost looks at the host and the port of an address that we go to.
func oddHost(u *url.URL, needsPort bool) string {
	switch {
	case u.Port() != "":
		return oddPort(u.Port(), false)
	case needsPort:
		return "names no port: " + u.Scheme + "://host:port"
	}
	return ""
}

// oddURL is oddHost of a text that is known to be an address.
func oddURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return oddHost(u, false)
}

// oddSocket looks at the path of a unix socket.
func oddSocket(u *url.URL) string {
	switch file := u.Opaque + u.Path; {
	case u.Host != "":
		return "must be unix:/path: after unix:// comes the name of a host, which sockets have none of"
	case file == "":
		return "names no file: unix:/path"
	case len(file) > maxUnixPath:
		return fmt.Sprintf("is longer than the %d bytes that the path of a socket may have", maxUnixPath)
	case hasNUL(file):
		return "holds a NUL"
	}
	return ""
}

// ownPaths are what the gateway serves beside its clients' endpoint.
var ownPaths = []string{"/healthz", "/readyz", "/.well-known/oauth-protected-resource"}

// oddPlace looks at what of an address where clients come in is no host.
func oddPlace(u *url.URL) string {
	at := u.Path
	switch {
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "must have no user, query or fragment"
	case u.Scheme == "tcp" && at != "":
		return "must have no path: tcp://host:port"
	case u.Scheme == "stdio" && u.Opaque+u.Path+u.Host != "":
		return "must be stdio: alone"
	case u.Scheme != "http" && u.Scheme != "https" || at == "" || at == "/":
		return ""
	case strings.ContainsAny(at, " {}%") || strings.ContainsFunc(at, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "the path must not hold spaces, control characters, braces or percent signs"
	case path.Clean(at) != strings.TrimSuffix(at, "/"):
		return "the path must not hold . or .. or empty parts"
	}
	for _, own := range ownPaths {
		if at == own || strings.HasPrefix(at, own+"/") {
			return "the gateway itself serves " + own
		}
	}
	return ""
}

// checkNames looks at the Host and Origin headers that are let in.
func (l *Listen) checkNames(at string, wrong report) {
	for i, host := range l.Hosts {
		if host == "" || strings.ContainsAny(host, "/@ ") {
			wrong(fmt.Sprintf("%s.hosts[%d]", at, i), "must be host or host:port, as browsers send it")
		}
	}
	for i, origin := range l.Origins {
		u, err := url.Parse(origin)
		if origin != "*" && origin != "null" && (err != nil || u.Scheme == "" || u.Host == "" || u.Path+u.RawQuery+u.Fragment != "") {
			wrong(fmt.Sprintf("%s.origins[%d]", at, i), "must be scheme://host or scheme://host:port, as browsers send it, or *")
		}
	}
}

// oursAlone are the headers that say what a request is, which the gateway has to.
var oursAlone = []string{
	"Accept", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Host", "Last-Event-Id", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// checkHeaders looks at headers of requests. What they say may be secret.
func checkHeaders(at string, headers map[string]string, wrong report) {
	seen := map[string]string{}
	for name, value := range headers {
		one, canonical := join(at, name), http.CanonicalHeaderKey(name)
		first, twice := seen[canonical]
		seen[canonical] = name
		switch {
		case name == "" || strings.ContainsFunc(name, notToken):
			wrong(one, "is no name of a header")
		case twice:
			wrong(at, "has both "+min(first, name)+" and "+max(first, name)+", which are one header")
		case slices.Contains(oursAlone, canonical) || strings.HasPrefix(canonical, "Mcp-") || strings.HasPrefix(canonical, "Sec-Websocket-"):
			wrong(one, "is a header that the gateway writes itself")
		case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			wrong(one, "holds a control character, which no header may")
		}
	}
}

// notToken is what the name of a header must not hold (RFC 9110 §5.6.2).
func notToken(r rune) bool {
	letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	return !letter && (r >= 0x7f || !strings.ContainsRune("!#$%&'*+-.^_`|~", r))
}

// checkProcess looks at what a child is started with.
func (u *Upstream) checkProcess(at string, wrong report) {
	for i, word := range u.Command {
		if hasNUL(word) {
			wrong(fmt.Sprintf("%s.command[%d]", at, i), "holds a NUL, which no argument may")
		}
	}
	if hasNUL(u.Dir) {
		wrong(at+".dir", "holds a NUL")
	}
	for name, value := range u.Env {
		switch {
		case name == "" || strings.Contains(name, "=") || hasNUL(name):
			wrong(at+".env."+name, "is no name of a variable")
		case hasNUL(value):
			wrong(at+".env."+name, "holds a NUL, which no variable may")
		}
	}
}

func hasNUL(text string) bool { return strings.Contains(text, "\x00") }

// checkTimes looks at times that mean something only together.
func (u *Upstream) checkTimes(at string, wrong report) {
	if b := u.RestartBackoff; b.Max > 0 && b.Min > b.Max {
		wrong(at+".restart", "min must not be longer than max")
	}
	if _, nameless := u.Methods[""]; nameless {
		wrong(at+".methods", "a method has a name")
	}
}

// noHash stands in examples for the hash of a token that is yet to be made; none has it.
const noHash = "sha256:0000000000000000000000000000000000000000000000000000000000000000"

// checkTwins finds tokens that cannot be told apart.
func (a *Auth) checkTwins(wrong report) {
	seen := map[string]int{}
	for i, t := range a.Tokens {
		if first, twice := seen[t.Hash]; twice && a.Tokens[first].Name != t.Name && t.Hash != noHash {
			wrong(fmt.Sprintf("auth.tokens[%d].hash", i), fmt.Sprintf("is that of tokens[%d] too: nobody could tell whose it is", first))
			continue
		}
		seen[t.Hash] = i
	}
}

// checkPort looks at the port of the page.
func (s *Status) checkPort(wrong report) {
	if _, port, err := net.SplitHostPort(s.Address); err == nil {
		if odd := oddPort(port, true); odd != "" {
			wrong("status", odd)
		}
	}
}

// checkMembership looks at what gateway/cluster would refuse when it joins.
func (k *Cluster) checkMembership(wrong report) {
	if k.Lease < 0 || k.Lease > 0 && k.Lease < minLease {
		wrong("cluster.lease", "must be 500ms or more")
	}
	if k.Name != "" && !upstreamName.MatchString(k.Name) {
		wrong("cluster.name", "a name is up to 64 letters, digits, points, dashes and underscores")
	}
	if strings.HasSuffix(k.Name, ".") || strings.Contains(k.Name, "..") {
		wrong("cluster.name", "a point must stand between other characters")
	}
	if t := k.TLS; t != nil && (t.Cert == "") != (t.Key == "") {
		wrong("cluster.tls", "cert and key go together")
	}
}
