// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestHTTPS: a client that trusts the certificate gets answers; one that trusts another authority
// gets none. A replaced certificate is used after 10 s, and a broken one never.
func TestHTTPS(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	first, second := newAuthority(t), newAuthority(t)
	first.write(t, certFile, keyFile, 1)
	synctest.Test(t, func(t *testing.T) {
		server := newServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }))
		var err error
		if server.TLSConfig, err = tlsConfig(certFile, keyFile); err != nil {
			t.Fatal(err)
		}
		dial := connect(t, server)
		get := func(a *authority) error {
			conn := tls.Client(dial(), &tls.Config{RootCAs: a.pool, ServerName: "localhost", NextProtos: []string{"h2", "http/1.1"}})
			defer conn.Close()
			if _, err := io.WriteString(conn, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
				return err
			}
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err == nil && resp.StatusCode != 200 {
				err = errors.New(resp.Status)
			}
			return err
		}
		check := func(step string, trusted, wrong *authority) {
			t.Helper()
			if err := get(trusted); err != nil {
				t.Errorf("%s: with the right authority: %v", step, err)
			}
			if unknown := (x509.UnknownAuthorityError{}); !errors.As(get(wrong), &unknown) {
				t.Errorf("%s: with a wrong authority: %v", step, get(wrong))
			}
		}
		check("at first", first, second)
		second.write(t, certFile, keyFile, 2)
		check("before the next look", first, second)
		time.Sleep(checkInterval)
		check("after it", second, first)
		if err := os.WriteFile(certFile, []byte("no PEM"), 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(checkInterval)
		check("with a broken file", second, first)
		if err := os.Remove(certFile); err != nil {
			t.Fatal(err)
		}
		time.Sleep(checkInterval)
		check("without a file", second, first)
	})
}

// TestHandshakeIsCutOff: a client that sends no handshake has 10 s.
func TestHandshakeIsCutOff(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	newAuthority(t).write(t, certFile, keyFile, 1)
	synctest.Test(t, func(t *testing.T) {
		server := newServer(http.NotFoundHandler())
		var err error
		if server.TLSConfig, err = tlsConfig(certFile, keyFile); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		// ends when the server closes the connection
		_, _ = io.Copy(io.Discard, connect(t, server)())
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("the connection was open for %v, want 10s", took)
		}
	})
}

// TestWrongCertificateFiles are errors of Run, before anything runs.
func TestWrongCertificateFiles(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	newAuthority(t).write(t, certFile, keyFile, 1)
	newAuthority(t).write(t, filepath.Join(dir, "other.crt"), filepath.Join(dir, "other.key"), 1)
	for files, want := range map[[2]string]string{
		{filepath.Join(dir, "none"), keyFile}:       "certificate: stat " + filepath.Join(dir, "none"),
		{file("empty", ""), keyFile}:                "certificate " + filepath.Join(dir, "empty") + " with key " + keyFile,
		{certFile, file("wrong", "no PEM")}:         "certificate " + certFile + " with key " + filepath.Join(dir, "wrong"),
		{certFile, filepath.Join(dir, "other.key")}: "private key does not match public key",
	} {
		m := &Manager{options: Options{Address: "localhost:0", CertFile: files[0], KeyFile: files[1]}}
		if _, err := m.serve(); err == nil || !strings.Contains(err.Error(), "serve at Options.Address: certificate") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", files, err, want)
		}
	}
	options := Options{CertFile: certFile}
	if err := options.validate(); err == nil || !strings.Contains(err.Error(), `KeyFile is ""; set both, or neither`) {
		t.Errorf("without a KeyFile: %v", err)
	}
}

// authority is a self-signed certificate for localhost.
type authority struct {
	pool *x509.CertPool
	pem  [2][]byte // the certificate and its key
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true,
		// also in a bubble, which begins in the year 2000
		NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{x509.NewCertPool(), [2][]byte{
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
	}}
	a.pool.AppendCertsFromPEM(a.pem[0])
	return a
}

// write writes the files, modified at the given second.
func (a *authority) write(t *testing.T, certFile, keyFile string, second int64) {
	t.Helper()
	for n, file := range []string{certFile, keyFile} {
		err := errors.Join(os.WriteFile(file, a.pem[n], 0o600), os.Chtimes(file, time.Time{}, time.Unix(second, 0)))
		if err != nil {
			t.Fatal(err)
		}
	}
}
