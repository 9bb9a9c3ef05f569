// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"crypto/tls"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/cmd/informer-relay/internal/configfile"
)

// handshake returns the name in the server's certificate, and the one in the client's certificate.
func handshake(t *testing.T, server, client *tls.Config) (name, caller string, err error) {
	t.Helper()
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	client = client.Clone()
	client.ServerName = "localhost"
	accepted, connected := tls.Server(far, server), tls.Client(near, client)
	done := make(chan error)
	go func() {
		defer far.Close()
		done <- accepted.HandshakeContext(t.Context())
	}()
	err = connected.HandshakeContext(t.Context())
	if err != nil {
		near.Close() // the server may be waiting for more
	} else {
		go connected.Read(make([]byte, 1)) // the server verifies the client's certificate later
	}
	if refused := <-done; err == nil {
		err = refused
	}
	if err != nil {
		return "", "", err
	}
	if certs := accepted.ConnectionState().VerifiedChains; len(certs) > 0 {
		caller = certs[0][0].Subject.CommonName
	}
	return connected.ConnectionState().PeerCertificates[0].Subject.CommonName, caller, nil
}

// TestTLSFilesAreReloaded changes files under a server, in a bubble. The files' modification times
// are set explicitly.
func TestTLSFilesAreReloaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder, began := t.TempDir(), time.Now()
		servers, clients := newAuthority(t), newAuthority(t)
		cert, key := servers.issue(t, "first", "")
		write(t, folder, began, map[string][]byte{"tls.crt": cert, "tls.key": key, "ca.crt": clients.pem})
		files, err := newTLSFiles(configfile.Listen{
			CertFile: filepath.Join(folder, "tls.crt"), KeyFile: filepath.Join(folder, "tls.key"), ClientCAFile: filepath.Join(folder, "ca.crt"),
		})
		if err != nil {
			t.Fatal(err)
		}
		server := files.config()
		caller := clients.clientConfig(t, "agent", "")
		caller.RootCAs = servers.clientConfig(t, "", "").RootCAs
		expect := func(step, wantName, wantCaller string) {
			t.Helper()
			name, who, err := handshake(t, server, caller)
			if err != nil || name != wantName || who != wantCaller {
				t.Errorf("%s: the server is %q, the caller %q, %v; want %q, %q", step, name, who, err, wantName, wantCaller)
			}
		}
		expect("first", "first", "agent")

		cert, newKey := servers.issue(t, "second", "")
		write(t, folder, began.Add(time.Second), map[string][]byte{"tls.crt": cert})
		expect("changed just now", "first", "agent")
		time.Sleep(checkInterval)
		expect("new certificate with the old key", "first", "agent")
		write(t, folder, began.Add(2*time.Second), map[string][]byte{"tls.key": newKey})
		time.Sleep(checkInterval)
		expect("changed", "second", "agent")

		write(t, folder, began.Add(3*time.Second), map[string][]byte{"ca.crt": newAuthority(t).pem})
		time.Sleep(checkInterval)
		if _, _, err := handshake(t, server, caller); err == nil {
			t.Error("a client certificate of a removed authority was accepted")
		}
		caller.Certificates = nil
		expect("without a certificate", "second", "")
	})
}

func TestInvalidTLSFiles(t *testing.T) {
	folder, a := t.TempDir(), newAuthority(t)
	cert, key := a.issue(t, "x", "")
	_, other := a.issue(t, "x", "")
	write(t, folder, time.Now(), map[string][]byte{"tls.crt": cert, "tls.key": key, "other.key": other, "empty.crt": nil})
	in := func(name string) string { return filepath.Join(folder, name) }
	for want, l := range map[string]configfile.Listen{
		"no such file":                        {CertFile: in("none"), KeyFile: in("tls.key")},
		"private key does not match":          {CertFile: in("tls.crt"), KeyFile: in("other.key")},
		"empty.crt has no certificate in PEM": {CertFile: in("tls.crt"), KeyFile: in("tls.key"), ClientCAFile: in("empty.crt")},
		"no such file or":                     {CertFile: in("tls.crt"), KeyFile: in("tls.key"), ClientCAFile: in("none")},
	} {
		if _, err := newTLSFiles(l); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("newTLSFiles(%+v) returned %v, want %q", l, err, want)
		}
	}
	if files, err := newTLSFiles(configfile.Listen{}); files != nil || err != nil {
		t.Errorf("newTLSFiles without files = %v, %v; want nil", files, err)
	}
}
