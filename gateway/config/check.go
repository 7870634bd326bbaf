package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// DefaultListen is where clients come in when a file does not say.
const DefaultListen = "http://127.0.0.1:8808/mcp"

type report = func(path, problem string)

// check finds what each member alone does not show, and fills in defaults.
func (c *Config) check(wrong report) {
	enums(reflect.ValueOf(c), "", wrong)
	if len(c.Listen) == 0 {
		c.Listen = []Listen{{Address: DefaultListen}}
	}
	seen := map[string]int{}
	for i := range c.Listen {
		path := fmt.Sprintf("listen[%d]", i)
		c.Listen[i].check(path, c.Auth, wrong)
		at := place(c.Listen[i].Address)
		if first, twice := seen[at]; twice {
			wrong(path, fmt.Sprintf("is the place of listen[%d] again", first))
		}
		seen[at] = i
	}
	for i := range c.Listen {
		c.Listen[i].checkProtocol(fmt.Sprintf("listen[%d].protocol", i), c.SpeaksPlain(), wrong)
	}
	if len(c.Upstreams) == 0 {
		wrong("upstreams", "there is none")
	}
	if len(c.Upstreams) > 1 && !c.Merge {
		wrong("upstreams", "there are several, which needs merge: true")
	}
	for _, name := range c.order {
		u := c.Upstreams[name]
		u.check("upstreams."+name, name, c.Merge, wrong)
	}
	c.checkURIPrefixes(wrong)
	c.Auth.check(wrong)
	c.Status.check(c.Listen, wrong)
	if c.Telemetry.Sample > 1 {
		wrong("telemetry.sample", "must be from 0 to 1")
	}
	if t := c.Telemetry; t.Endpoint != "" && !hasHost(t.Endpoint, "http", "https") {
		wrong("telemetry.otlp", "must be http://host:port or https://host:port")
	} else if odd := oddURL(t.Endpoint); odd != "" {
		wrong("telemetry.otlp", odd)
	}
	checkHeaders("telemetry.headers", c.Telemetry.Headers, wrong)
	if k := c.Cluster; k != nil && (k.Replicas < 0 || k.Replicas > maxReplicas) {
		wrong("cluster.replicas", "must be from 1 to 5")
	}
	if k := c.Cluster; k != nil {
		k.checkMembership(wrong)
	}
	if k := c.Cluster; k != nil && k.URL != "embedded" {
		for one := range strings.SplitSeq(k.URL, ",") {
			if !hasHost(strings.TrimSpace(one), "nats", "tls", "ws", "wss") {
				wrong("cluster", "must be nats://host:port, tls://host:port or embedded")
				break
			}
			if odd := oddURL(strings.TrimSpace(one)); odd != "" {
				wrong("cluster", odd)
			}
		}
	}
}

// maxReplicas is JetStream's own bound.
const maxReplicas = 5

// place is what only one listener can have.
func place(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	if u.Host != "" {
		if strings.HasSuffix(u.Host, ":0") {
			return address + "\x00" + u.Path // any port
		}
		return u.Host
	}
	return u.Scheme + ":" + u.Opaque + u.Path
}

func hasHost(text string, schemes ...string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && slices.Contains(schemes, u.Scheme)
}

func (l *Listen) check(path string, auth *Auth, wrong report) {
	u, err := url.Parse(l.Address)
	if err != nil {
		wrong(path, "is no address")
		return
	}
	isHTTP := false
	switch u.Scheme {
	case "stdio":
	case "unix":
		if odd := oddSocket(u); odd != "" {
			wrong(path, odd)
		}
	case "tcp", "http", "https":
		isHTTP = u.Scheme != "tcp"
		if _, port, err := net.SplitHostPort(u.Host); err != nil || port == "" {
			wrong(path, "names no port: "+u.Scheme+"://host:port")
		} else if odd := oddPort(port, true); odd != "" {
			wrong(path, odd)
		} else if !l.Open && !loopback(u.Hostname()) {
			wrong(path, "other machines can reach it, which needs open: true")
		}
	default:
		wrong(path, "must begin with stdio:, unix:, tcp://, http:// or https://")
		return
	}
	if odd := oddPlace(u); odd != "" {
		wrong(path, odd)
	}
	l.checkNames(path, wrong)
	switch {
	case u.Scheme == "https" && (l.TLS == nil || l.TLS.Cert == "" || l.TLS.Key == ""):
		wrong(path, "https needs tls with cert and key")
	case u.Scheme != "https" && l.TLS != nil:
		wrong(path+".tls", "is for https")
	}
	if !isHTTP && len(l.Hosts)+len(l.Origins) > 0 {
		wrong(path, "hosts and origins are for http and https")
	}
	if auth != nil && u.Scheme == "tcp" && l.Identity == "" && !loopback(u.Hostname()) {
		wrong(path, "auth asks nobody who comes in over tcp: give them an identity here, or serve https")
	}
	if auth != nil && auth.Certificates && isHTTP && (l.TLS == nil || l.TLS.CA == "") {
		wrong(path, "auth.certificates needs tls.ca here")
	}
}

// checkProtocol sees to it that clients speak what the upstreams do: a request of the one
// means nothing to the other.
func (l *Listen) checkProtocol(path string, plain bool, wrong report) {
	switch {
	case l.Protocol == plainProtocol && !plain:
		wrong(path, "jsonrpc needs an upstream with protocol: jsonrpc")
	case l.Protocol == "mcp" && plain:
		wrong(path, "mcp needs upstreams that speak it, and this one has protocol: jsonrpc")
	}
}

// loopback reports whether only this machine can reach a host.
func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// uriPrefix is what a URI may begin with and still be one.
var uriPrefix = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]{0,63}$`)

// checkURIPrefixes sees to it that a URI tells whose it is.
func (c *Config) checkURIPrefixes(wrong report) {
	seen := map[string]string{}
	for _, name := range c.order {
		prefix, path := c.Upstreams[name].URIPrefix, "upstreams."+name+".uriPrefix"
		switch {
		case prefix == "":
			continue
		case !c.Merge:
			wrong(path, "is for merge: true")
		case !uriPrefix.MatchString(prefix):
			wrong(path, "must be a letter, then letters, digits, +, - and points, such as files+")
		case seen[prefix] != "":
			wrong(path, "is the prefix of "+seen[prefix]+" as well")
		}
		seen[prefix] = name
	}
}

var upstreamName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

func (u *Upstream) check(path, name string, merged bool, wrong report) {
	switch {
	case !upstreamName.MatchString(name):
		wrong(path, "a name is up to 64 letters, digits, points, dashes and underscores")
	case merged && strings.Contains(name, "__"):
		wrong(path, "a name must not hold __, which ends it in the names of tools")
	}
	if merged && u.Protocol == plainProtocol {
		wrong(path+".protocol", "jsonrpc has no lists of tools that could be merged; it needs a gateway of its own")
	}
	switch {
	case len(u.Command) == 0 && u.URL == "":
		wrong(path, "needs command or url")
	case len(u.Command) > 0 && u.URL != "":
		wrong(path, "has command and url; one of them")
	case len(u.Command) > 0 && u.Command[0] == "":
		wrong(path+".command", "names no program")
	}
	scheme := Scheme(u.URL)
	web := slices.Contains([]string{"http", "https", "ws", "wss"}, scheme)
	switch {
	case u.URL == "":
	case scheme == "unix":
		if at, err := url.Parse(u.URL); err == nil {
			if odd := oddSocket(at); odd != "" {
				wrong(path+".url", odd)
			}
		}
	case !web && scheme != "tcp":
		wrong(path+".url", "must begin with unix:, tcp://, ws://, wss://, http:// or https://")
	case !hasHost(u.URL, scheme):
		wrong(path+".url", "names no host")
	default:
		if at, err := url.Parse(u.URL); err == nil {
			if odd := oddHost(at, scheme == "tcp"); odd != "" {
				wrong(path+".url", odd)
			}
		}
	}
	checkHeaders(path+".headers", u.Headers, wrong)
	u.checkProcess(path, wrong)
	u.checkTimes(path, wrong)
	if len(u.Headers) > 0 && !web {
		wrong(path+".headers", "are for http, https, ws and wss")
	}
	if u.TLS != nil {
		if scheme != "https" && scheme != "wss" && scheme != "tcp" {
			wrong(path+".tls", "is for https, wss and tcp")
		}
		if (u.TLS.Cert == "") != (u.TLS.Key == "") {
			wrong(path+".tls", "cert and key go together")
		}
	}
	if len(u.Command) == 0 && (len(u.Env) > 0 || u.Dir != "") {
		wrong(path, "env and dir are for a command")
	}
}

func (a *Auth) check(wrong report) {
	if a == nil {
		return
	}
	if len(a.Tokens) == 0 && a.OAuth == nil && !a.Certificates {
		wrong("auth", "needs tokens, oauth or certificates")
	}
	for i, t := range a.Tokens {
		if !tokenHash.MatchString(t.Hash) {
			wrong(fmt.Sprintf("auth.tokens[%d].hash", i), "must be sha256: and 64 hex digits, as gateway token prints it")
		}
	}
	a.checkTwins(wrong)
	if a.OAuth != nil {
		if !hasHost(a.OAuth.Resource, "http", "https") {
			wrong("auth.oauth.resource", "must be the http or https address of this gateway")
		}
		for i, one := range a.OAuth.Issuers {
			if !hasHost(one, "http", "https") {
				wrong(fmt.Sprintf("auth.oauth.issuers[%d]", i), "must be an https address")
			}
		}
	}
}

var tokenHash = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

func (s *Status) check(listen []Listen, wrong report) {
	if strings.HasPrefix(s.Token, "sha256:") && !tokenHash.MatchString(s.Token) {
		wrong("status.token", "must be a secret, or sha256: and 64 hex digits, as gateway token prints it")
	}
	if s.Address == "" || s.Address == none {
		return
	}
	host, _, err := net.SplitHostPort(s.Address)
	switch {
	case err != nil:
		wrong("status", "must be host:port, or none")
	case !s.Open && !loopback(host):
		wrong("status", "other machines can reach it, which needs open: true")
	}
	s.checkPort(wrong)
	for i := range listen {
		if place(listen[i].Address) == s.Address && !strings.HasSuffix(s.Address, ":0") {
			wrong("status", fmt.Sprintf("is the place of listen[%d]", i))
		}
	}
}
