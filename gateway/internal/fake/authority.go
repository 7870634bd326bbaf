package fake

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority makes certificates, and files of them: ca.pem and ca.key are its own.
type Authority struct {
	// Pool has its own certificate.
	Pool *x509.CertPool

	t    testing.TB
	dir  string
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	next int64
}

// NewAuthority makes one whose files go with the test.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{Pool: x509.NewCertPool(), t: t, dir: t.TempDir()}
	a.sign("ca", true)
	a.Pool.AddCert(a.cert)
	return a
}

// Path is where a file of that name is.
func (a *Authority) Path(name string) string { return filepath.Join(a.dir, name) }

// Sign makes name.pem and name.key, for servers at 127.0.0.1 and server.test and for
// clients of that name.
func (a *Authority) Sign(name string) tls.Certificate {
	a.t.Helper()
	return a.sign(name, false)
}

func (a *Authority) sign(name string, isCA bool) tls.Certificate {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	a.check(err)
	a.next++
	template := &x509.Certificate{
		SerialNumber: big.NewInt(a.next), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"server.test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: isCA, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	parent, by := a.cert, a.key
	if isCA {
		parent, by = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
	a.check(err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	a.check(err)
	certPEM, keyPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	a.check(os.WriteFile(a.Path(name+".pem"), certPEM, 0o600))
	a.check(os.WriteFile(a.Path(name+".key"), keyPEM, 0o600))
	if isCA {
		a.key = key
		a.cert, err = x509.ParseCertificate(der)
		a.check(err)
	}
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	a.check(err)
	return pair
}

func (a *Authority) check(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}
