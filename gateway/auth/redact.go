package auth

import (
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// redacted stands in logs where a secret stood.
const redacted = "[redacted]"

// secrets are the texts that give somebody's rights away wherever they stand: credentials
// behind their scheme, JWTs, tokens of NewToken, passwords in addresses, and parameters
// of addresses that are called like secrets.
var secrets = []struct {
	find *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`(?i)\b(bearer|basic|dpop)\s+[A-Za-z0-9+/=._~-]{6,}`), "$1 " + redacted},
	{regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*`), redacted},
	{regexp.MustCompile(`\bgw_[0-9a-f]{64}\b`), redacted},
	{regexp.MustCompile(`(://[^/\s:@]*):[^/\s@]+@`), "$1:" + redacted + "@"},
	{regexp.MustCompile(`(?i)\b((?:access_|refresh_|id_|auth_)?token|api[_-]?key|client_secret|secret|password|passwd|sig|signature|code)=[^\s&"']+`), "$1=" + redacted},
}

// Redact takes secrets out of a text that is to be logged, as far as they can be told
// from what is none.
func Redact(text string) string {
	for _, s := range secrets {
		text = s.find.ReplaceAllString(text, s.with)
	}
	return text
}

// secretNames are what headers, parameters and attributes are called that hold secrets.
var secretNames = map[string]bool{
	"authorization": true, "proxy-authorization": true, "cookie": true, "set-cookie": true, "mcp-session-id": true,
	"token": true, "access_token": true, "refresh_token": true, "id_token": true, "api_key": true, "apikey": true, "x-api-key": true,
	"secret": true, "client_secret": true, "password": true, "passwd": true, "session_id": true,
}

// IsSecret reports whether what goes by this name is no business of a log's.
func IsSecret(name string) bool { return secretNames[strings.ToLower(name)] }

// RedactAttr is for slog.HandlerOptions.ReplaceAttr: what is called like a secret is left
// out, and secrets are taken out of texts, errors and addresses.
func RedactAttr(_ []string, a slog.Attr) slog.Attr {
	if IsSecret(a.Key) {
		return slog.String(a.Key, redacted)
	}
	switch v := a.Value.Any().(type) {
	case string:
		a.Value = slog.StringValue(Redact(v))
	case error:
		a.Value = slog.StringValue(Redact(v.Error()))
	case *url.URL:
		a.Value = slog.StringValue(Redact(v.Redacted()))
	case http.Header:
		a.Value = slog.AnyValue(RedactHeader(v))
	}
	return a
}

// RedactHeader is a copy of h without secrets.
func RedactHeader(h http.Header) http.Header {
	out := h.Clone()
	for name, values := range out {
		for i := range values {
			if IsSecret(name) {
				values[i] = redacted
			} else {
				values[i] = Redact(values[i])
			}
		}
	}
	return out
}
