package client

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

// members are the members of _meta that every request of a modern revision
// carries, as the inside of a JSON object.
func (o *Options) members(revision mcp.Revision) ([]byte, error) {
	capabilities, err := json.Marshal(o.capabilities())
	if err != nil {
		return nil, err
	}
	info, err := json.Marshal(o.Info)
	if err != nil {
		return nil, err
	}
	b := appendMember(nil, mcp.MetaProtocolVersion, codec.AppendString(nil, string(revision)))
	b = appendMember(b, mcp.MetaClientCapabilities, capabilities)
	return appendMember(b, mcp.MetaClientInfo, info), nil
}

func appendMember(b []byte, key string, value []byte) []byte {
	if len(b) > 0 {
		b = append(b, ',')
	}
	return append(append(codec.AppendString(b, key), ':'), value...)
}

// RequestMeta is the JSON text of _meta as every request to the server must carry
// it, nil in the older era. The client's own requests do; this is for those that are
// written to the connection of Over beside it.
func (c *Client) RequestMeta() []byte {
	members := c.agreed().members
	if members == nil {
		return nil
	}
	return slices.Concat([]byte("{"), members, []byte("}"))
}

// complete gives params with everything in _meta that a request of the agreed
// revision carries. What the caller put there itself stays as it is.
func (c *Client) complete(params []byte, o CallOptions) ([]byte, error) {
	if err := knownLevel("LogLevel", o.LogLevel, true); err != nil {
		return nil, err
	}
	a := c.agreed()
	members := a.members
	extra := maps.Clone(o.Meta)
	if o.LogLevel != mcp.LevelNone && a.revision.IsModern() {
		if extra == nil {
			extra = mcp.Meta{}
		}
		extra[mcp.MetaLogLevel] = codec.AppendString(nil, o.LogLevel.String())
	}
	// Nothing may stand twice. That the caller brings a _meta with names of the
	// protocol is rare, so that it is looked into only if it may have some.
	if mayHold(params) || holdsAny(extra) {
		var given struct {
			Meta mcp.Meta `json:"_meta"`
		}
		if len(params) > 0 {
			if err := codec.DecodeValue(params, &given); err != nil {
				return nil, err
			}
		}
		own := mcp.Meta{}
		if len(members) > 0 {
			if err := codec.DecodeValue(slices.Concat([]byte("{"), members, []byte("}")), &own); err != nil {
				return nil, err
			}
		}
		maps.Copy(own, extra)
		for key := range given.Meta {
			delete(own, key)
		}
		members, extra = nil, own
	}
	members = slices.Clip(members)
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		members = appendMember(members, key, extra[key])
	}
	if len(members) == 0 {
		return params, nil
	}
	return codec.AppendParamsWithMeta(nil, params, members)
}

const reservedPrefix = "io.modelcontextprotocol/"

// mayHold reports whether params may have a _meta with names that complete writes.
// An escape in a name may hide one.
func mayHold(params []byte) bool {
	return bytes.Contains(params, []byte(reservedPrefix)) || bytes.Contains(params, []byte(`"_meta"`)) || bytes.Contains(params, []byte(`\u005f`)) ||
		bytes.Contains(params, []byte(`\u005F`))
}

// holdsAny reports whether extra has a name that the agreement has too.
func holdsAny(extra mcp.Meta) bool {
	for _, key := range []string{mcp.MetaProtocolVersion, mcp.MetaClientCapabilities, mcp.MetaClientInfo} {
		if _, ok := extra[key]; ok {
			return true
		}
	}
	return false
}
