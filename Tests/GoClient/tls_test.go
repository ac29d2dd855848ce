package goclient

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/containerd/ttrpc"
)

// authority issues certificates for tests.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return &authority{certificate, key, text}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// issue returns a certificate for localhost and its key, in PEM.
func (a *authority) issue(t *testing.T, end time.Time) (certificate, private []byte) {
	t.Helper()
	key := newKey(t)
	name, _ := url.Parse("spiffe://example.com/go")
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "go"},
		NotBefore: end.Add(-48 * time.Hour), NotAfter: end, DNSNames: []string{"localhost"},
		URIs: []*url.URL{name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
}

// keyPair is a client's certificate that is valid until end.
func (a *authority) keyPair(t *testing.T, end time.Time) []tls.Certificate {
	t.Helper()
	pair, err := tls.X509KeyPair(a.issue(t, end))
	if err != nil {
		t.Fatal(err)
	}
	return []tls.Certificate{pair}
}

// encrypted is an entitled with a listener that takes certificates and one that requires them.
type encrypted struct {
	command       *exec.Cmd
	log           string
	clients       string
	optional      string
	required      string
	authority     *authority
	authorityPool *x509.CertPool
}

// startEncrypted starts entitled, with access control if there is a file of credentials.
func startEncrypted(t *testing.T, credentials string) *encrypted {
	t.Helper()
	directory := t.TempDir()
	file := func(name string, contents []byte) string {
		path := filepath.Join(directory, name)
		if err := os.WriteFile(path, contents, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	catalog, err := output("storesim", "catalog")
	if err != nil {
		t.Fatal(err)
	}
	e := &encrypted{authority: newAuthority(t, "authority"), authorityPool: x509.NewCertPool()}
	e.authorityPool.AddCert(e.authority.certificate)
	certificate, key := e.authority.issue(t, time.Now().Add(24*time.Hour))
	e.clients = file("clients.pem", e.authority.pem)
	e.log = file("log", nil)
	log, err := os.Create(e.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	arguments := []string{
		"--listen", "tls:127.0.0.1:0", "--listen", "mtls:127.0.0.1:0",
		"--tls-certificate", file("server.pem", certificate), "--tls-key", file("server.key", key),
		"--tls-client-ca", e.clients, "--catalog", file("catalog.yaml", catalog),
		"--store", "sqlite:" + filepath.Join(directory, "store.sqlite"), "--create",
	}
	if credentials != "" {
		arguments = append(arguments, "--credentials", credentials)
	}
	e.command = exec.Command(filepath.Join(*programs, "entitled"), arguments...)
	e.command.Stderr = log
	if err := e.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = e.command.Process.Signal(syscall.SIGTERM)
		if err := e.command.Wait(); err != nil {
			t.Errorf("entitled did not stop: %v", err)
		}
	})
	for _, scheme := range []string{"tls:", "mtls:"} {
		e.awaitLog(t, "address="+scheme)
		text, _ := os.ReadFile(e.log)
		address := strings.Fields(string(text[bytes.Index(text, []byte("address="+scheme)):]))[0]
		address = strings.TrimPrefix(address, "address="+scheme)
		if scheme == "tls:" {
			e.optional = address
		} else {
			e.required = address
		}
	}
	return e
}

// awaitLog waits until the log has this text.
func (e *encrypted) awaitLog(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if contents, _ := os.ReadFile(e.log); bytes.Contains(contents, []byte(text)) {
			return
		}
	}
	contents, _ := os.ReadFile(e.log)
	t.Fatalf("no %q in the log:\n%s", text, contents)
}

// call makes one call on a connection of its own.
func call(address string, config *tls.Config) (resumed bool, err error) {
	connection, err := tls.Dial("tcp", address, config)
	if err != nil {
		return false, err
	}
	client := &Client{ttrpc.NewClient(connection)}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	answer, err := client.Health(ctx, "")
	if err == nil && answer.Status.String() != "SERVING" {
		err = fmt.Errorf("not serving: %v", answer)
	}
	return connection.ConnectionState().DidResume, err
}

func TestTLS(t *testing.T) {
	e := startEncrypted(t, "")
	tomorrow := time.Now().Add(24 * time.Hour)
	stranger := newAuthority(t, "stranger")
	strangers := x509.NewCertPool()
	strangers.AddCert(stranger.certificate)
	for _, test := range []struct {
		name, address string
		config        *tls.Config
		// What the client is told and the log says; empty: the call succeeds.
		failure, logged string
	}{
		{"without a certificate", e.optional, &tls.Config{RootCAs: e.authorityPool}, "", ""},
		{"with a certificate", e.optional, &tls.Config{RootCAs: e.authorityPool,
			Certificates: e.authority.keyPair(t, tomorrow)}, "", ""},
		{"with the required certificate", e.required, &tls.Config{RootCAs: e.authorityPool,
			Certificates: e.authority.keyPair(t, tomorrow)}, "", ""},
		{"without the required certificate", e.required, &tls.Config{RootCAs: e.authorityPool},
			"certificate required", "has no certificate"},
		{"certificate of another authority", e.required, &tls.Config{RootCAs: e.authorityPool,
			Certificates: stranger.keyPair(t, tomorrow)}, "unknown certificate authority", "not signed by an authority"},
		{"expired certificate", e.required, &tls.Config{RootCAs: e.authorityPool,
			Certificates: e.authority.keyPair(t, time.Now().Add(-time.Hour))}, "expired certificate", "expired or not valid"},
		{"wrong authority", e.optional, &tls.Config{RootCAs: strangers},
			"unknown authority", "refuses the server's certificate"},
		{"wrong name", e.optional, &tls.Config{RootCAs: e.authorityPool, ServerName: "entitle.example.com"},
			"entitle.example.com", "refuses the server's certificate"},
		{"TLS 1.2", e.optional, &tls.Config{RootCAs: e.authorityPool, MaxVersion: tls.VersionTLS12},
			"protocol version", "does not offer TLS 1.3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			// A client with several certificates chooses by the server's list; this one sends what it has.
			if certificates := test.config.Certificates; len(certificates) > 0 {
				test.config.Certificates = nil
				test.config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
					return &certificates[0], nil
				}
			}
			_, err := call(test.address, test.config)
			if test.failure == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.failure) {
				t.Fatalf("got %v, want %q", err, test.failure)
			}
			e.awaitLog(t, test.logged)
		})
	}
}

// TestTickets resumes sessions. A removed authority must end that.
func TestTickets(t *testing.T) {
	e := startEncrypted(t, "")
	config := &tls.Config{
		RootCAs: e.authorityPool, ServerName: "localhost",
		Certificates:       e.authority.keyPair(t, time.Now().Add(24*time.Hour)),
		ClientSessionCache: tls.NewLRUClientSessionCache(0),
	}
	for _, resumes := range []bool{false, true} {
		resumed, err := call(e.required, config)
		if err != nil || resumed != resumes {
			t.Fatalf("resumed %v, want %v: %v", resumed, resumes, err)
		}
	}
	// A ticket of one listener is not valid for the other: there no certificate was required.
	if err := os.WriteFile(e.clients, newAuthority(t, "next").pem, 0o600); err != nil {
		t.Fatal(err)
	}
	_ = e.command.Process.Signal(syscall.SIGHUP)
	e.awaitLog(t, "TLS files reloaded")
	if _, err := call(e.required, config); err == nil {
		t.Fatal("a session outlived the authority of its certificate")
	}
	e.awaitLog(t, "not signed by an authority")
}
