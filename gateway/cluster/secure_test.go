package cluster_test

import (
	"crypto/tls"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/cluster"
	"github.com/correlator-go/correlator/gateway/internal/fake"
)

// crosses has a client of one node call a server that lives on another.
func crosses(t *testing.T, o cluster.Options) {
	t.Helper()
	a, b := join(t, "a", o, gateway.Upstream{}), join(t, "b", o, gateway.Upstream{})
	for i, n := range []*node{a, b} {
		c := n.client("c")
		require.NoError(t, c.Say(tool(i, "x")))
		id, _ := nextRequest(t, a.server.Way(0))
		answer(a.server.Way(0), id, n.Name())
		require.Contains(t, next(t, c), `"mark":"`+n.Name()+`"`)
	}
	require.Zero(t, b.server.Opened())
}

// address is that of a server without its scheme.
func address(s *server.Server) string {
	_, at, _ := strings.Cut(s.ClientURL(), "://")
	return at
}

// Over TLS, with an authority of their own on both sides: nodes that show a certificate
// of it work as ever. Who does not know it, shows none, or another authority's, is told
// so, and of which server.
func TestTLSToNATS(t *testing.T) {
	a, strange := fake.NewAuthority(t), fake.NewAuthority(t)
	a.Sign("node")
	strange.Sign("node")
	s := outside(t, server.Options{TLSVerify: true, TLSTimeout: patience.Seconds(), TLSConfig: &tls.Config{
		Certificates: []tls.Certificate{a.Sign("nats")}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: a.Pool,
	}})
	good := cluster.Options{URL: "tls://" + address(s), CAFile: a.Path("ca.pem"), CertFile: a.Path("node.pem"), KeyFile: a.Path("node.key")}
	crosses(t, good)
	for name, c := range map[string]struct {
		change func(o *cluster.Options)
		says   string
	}{
		"an authority that nobody knows": {func(o *cluster.Options) { o.CAFile = "" }, "unknown authority"},
		"another's certificate":          {func(o *cluster.Options) { o.CertFile, o.KeyFile = strange.Path("node.pem"), strange.Path("node.key") }, "tls"},
		"no certificate":                 {func(o *cluster.Options) { o.CertFile, o.KeyFile = "", "" }, "tls"},
		"no such authorities":            {func(o *cluster.Options) { o.CAFile = a.Path("none.pem") }, "none.pem"},
		"no such certificate":            {func(o *cluster.Options) { o.CertFile = a.Path("none.pem") }, "none.pem"},
		"another's key":                  {func(o *cluster.Options) { o.KeyFile = a.Path("ca.key") }, "private key"},
	} {
		t.Run(name, func(t *testing.T) {
			o := good
			c.change(&o)
			_, err := cluster.Join(t.Context(), o)
			require.ErrorContains(t, err, c.says)
			require.ErrorContains(t, err, "NATS at tls://"+address(s))
		})
	}
}

// operator is what a server trusts, with an account that may use JetStream.
type operator struct {
	t        *testing.T
	key      nkeys.KeyPair
	account  nkeys.KeyPair
	claims   *jwt.OperatorClaims
	accounts server.MemAccResolver
	system   string
}

func newOperator(t *testing.T) *operator {
	t.Helper()
	o := &operator{t: t}
	o.key = o.must(nkeys.CreateOperator())
	o.claims = jwt.NewOperatorClaims(o.public(o.key))
	system := o.must(nkeys.CreateAccount())
	o.system = o.public(system)
	o.publish(jwt.NewAccountClaims(o.system))
	o.account = o.must(nkeys.CreateAccount())
	gateways := jwt.NewAccountClaims(o.public(o.account))
	gateways.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	o.publish(gateways)
	return o
}

func (o *operator) must(k nkeys.KeyPair, err error) nkeys.KeyPair {
	o.t.Helper()
	require.NoError(o.t, err)
	return k
}

func (o *operator) public(k nkeys.KeyPair) string {
	o.t.Helper()
	public, err := k.PublicKey()
	require.NoError(o.t, err)
	return public
}

func (o *operator) publish(c *jwt.AccountClaims) {
	o.t.Helper()
	text, err := c.Encode(o.key)
	require.NoError(o.t, err)
	require.NoError(o.t, o.accounts.Store(c.Subject, text))
}

// credentials writes a file with the JWT of a new user of the account, and its key.
func (o *operator) credentials() string {
	o.t.Helper()
	user := o.must(nkeys.CreateUser())
	text, err := jwt.NewUserClaims(o.public(user)).Encode(o.account)
	require.NoError(o.t, err)
	seed, err := user.Seed()
	require.NoError(o.t, err)
	file, err := jwt.FormatUserConfig(text, seed)
	require.NoError(o.t, err)
	path := filepath.Join(o.t.TempDir(), "node.creds")
	require.NoError(o.t, os.WriteFile(path, file, 0o600))
	return path
}

// A file of credentials, a JWT and the key that signs what the server asks, lets a node
// in; another operator's does not, and no file, and none that is one.
func TestCredentialsFile(t *testing.T) {
	o, strange := newOperator(t), newOperator(t)
	s := outside(t, server.Options{TrustedOperators: []*jwt.OperatorClaims{o.claims}, AccountResolver: &o.accounts, SystemAccount: o.system})
	crosses(t, cluster.Options{URL: s.ClientURL(), Credentials: o.credentials()})

	_, err := cluster.Join(t.Context(), cluster.Options{URL: s.ClientURL(), Credentials: strange.credentials()})
	require.ErrorIs(t, err, nats.ErrAuthorization)
	require.ErrorContains(t, err, "NATS at nats://"+address(s))
	_, err = cluster.Join(t.Context(), cluster.Options{URL: s.ClientURL()})
	require.ErrorIs(t, err, nats.ErrAuthorization)

	rubbish := filepath.Join(t.TempDir(), "rubbish.creds")
	require.NoError(t, os.WriteFile(rubbish, []byte("-----BEGIN SECRET-----\n"), 0o600))
	for _, file := range []string{filepath.Join(t.TempDir(), "none.creds"), rubbish} {
		_, err = cluster.Join(t.Context(), cluster.Options{URL: s.ClientURL(), Credentials: file})
		require.ErrorContains(t, err, file)
		require.NotContains(t, err.Error(), "SECRET")
	}
}

// A user and a password, or a token, as options or in the address; if they are wrong the
// error names the server, and nothing that is secret.
func TestPasswordsAndTokens(t *testing.T) {
	passwords := outside(t, server.Options{Username: "gateway", Password: "hunter2"})
	tokens := outside(t, server.Options{Authorization: "hunter2"})
	for name, o := range map[string]cluster.Options{
		"user":             {URL: passwords.ClientURL(), User: "gateway", Password: "hunter2"},
		"user in address":  {URL: "nats://gateway:hunter2@" + address(passwords)},
		"token":            {URL: tokens.ClientURL(), Token: "hunter2"},
		"token in address": {URL: "nats://hunter2@" + address(tokens)},
	} {
		t.Run(name, func(t *testing.T) { crosses(t, o) })
	}
	for name, o := range map[string]cluster.Options{
		"user":               {URL: passwords.ClientURL(), User: "gateway", Password: "correct horse"},
		"user in address":    {URL: "nats://gateway:correct%20horse@" + address(passwords)},
		"token":              {URL: tokens.ClientURL(), Token: "correct horse"},
		"token in address":   {URL: "nats://correct%20horse@" + address(tokens)},
		"several":            {URL: "nats://correct%20horse@" + address(tokens) + ", nats://gateway:correct%20horse@" + address(passwords)},
		"no server":          {URL: "nats://gateway:correct%20horse@127.0.0.1:1"},
		"without its scheme": {URL: "correct%20horse@" + address(tokens)},
	} {
		t.Run("wrong "+name, func(t *testing.T) {
			_, err := cluster.Join(t.Context(), o)
			require.ErrorContains(t, err, "127.0.0.1")
			require.NotContains(t, err.Error(), "correct")
			require.NotContains(t, err.Error(), "gateway:")
		})
	}
	for _, url := range []string{"nats://gateway:correct horse@127.0.0.1:1:2", "nats://gateway:correct,horse@127.0.0.1:1", "nats://", "://correct@h"} {
		_, err := cluster.Join(t.Context(), cluster.Options{URL: url})
		wrong, ok := errors.AsType[*cluster.OptionError](err)
		require.True(t, ok, "%s: %v", url, err)
		require.Equal(t, "URL", wrong.Field)
		require.NotContains(t, err.Error(), "correct")
	}
}

// doorkeeper lets nodes in, or not, and counts those that it did not.
type doorkeeper struct {
	shut    atomic.Bool
	refused atomic.Int64
}

func (d *doorkeeper) Check(server.ClientAuthentication) bool {
	if d.shut.Load() {
		d.refused.Add(1)
		return false
	}
	return true
}

// Credentials that are refused for a while, since they are renewed or the server knows
// them again only later, are tried again: the node comes back by itself.
func TestRefusedForAWhile(t *testing.T) {
	port, dir, door := freePort(t), t.TempDir(), &doorkeeper{}
	options := server.Options{Port: port, StoreDir: dir, CustomClientAuthentication: door}
	s := outside(t, options)
	n := join(t, "a", cluster.Options{URL: s.ClientURL(), Token: "x"}, gateway.Upstream{})
	require.True(t, n.Connected())
	stop(s)
	door.shut.Store(true)
	outside(t, options)
	require.Eventually(t, func() bool { return door.refused.Load() >= 4 }, patience, tick)
	require.False(t, n.Connected())
	door.shut.Store(false)
	require.Eventually(t, n.Connected, patience, tick)
	c := n.client("c")
	require.NoError(t, c.Say(tool(1, "x")))
	id, _ := nextRequest(t, n.server.Way(0))
	answer(n.server.Way(0), id, "served")
	require.Contains(t, next(t, c), "served")
}

// A server that takes less than the protocol of the nodes needs is refused at the start.
func TestServerThatTakesTooLittle(t *testing.T) {
	s := outside(t, server.Options{MaxPayload: 1024})
	_, err := cluster.Join(t.Context(), cluster.Options{URL: s.ClientURL()})
	require.ErrorContains(t, err, "messages of 1024 bytes")
}
