// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/cmd/informer-relay/internal/configfile"
)

// lookEvery is the shortest interval between checks of the files, which handshakes make.
const lookEvery = 10 * time.Second

// tlsFiles makes TLS configurations from files, and new ones when the files change. While the new
// contents can't be read, as in the middle of a change, the previous ones stay in use.
type tlsFiles struct {
	// set once at construction
	cert, key, clientCA string

	// mu guards the fields below
	mu     sync.Mutex
	looked time.Time
	stamps [3]time.Time // modification times
	now    *tls.Config
}

// newTLSFiles returns the TLS configuration of l, or nil if it has no files. It fails if they can't
// be read.
func newTLSFiles(l configfile.Listen) (*tlsFiles, error) {
	if l.CertFile == "" {
		return nil, nil
	}
	f := &tlsFiles{cert: l.CertFile, key: l.KeyFile, clientCA: l.ClientCAFile}
	stamps, err := f.look()
	if err == nil {
		f.now, err = f.load()
	}
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	f.stamps, f.looked = stamps, time.Now()
	return f, nil
}

// config returns a configuration that follows the files.
func (f *tlsFiles) config() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return f.current(), nil },
		// net/http requires it
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &f.current().Certificates[0], nil },
	}
}

func (f *tlsFiles) current() *tls.Config {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.looked) < lookEvery {
		return f.now
	}
	f.looked = time.Now()
	stamps, err := f.look()
	if err == nil && stamps == f.stamps {
		return f.now
	}
	var changed *tls.Config
	if err == nil {
		changed, err = f.load()
	}
	if err != nil {
		klog.Background().Error(err, "The TLS files could not be read again; the ones before stay in use")
		return f.now
	}
	f.now, f.stamps = changed, stamps
	return f.now
}

func (f *tlsFiles) look() (stamps [3]time.Time, err error) {
	for i, name := range []string{f.cert, f.key, f.clientCA} {
		if name == "" {
			continue
		}
		info, err := os.Stat(name)
		if err != nil {
			return stamps, err
		}
		stamps[i] = info.ModTime()
	}
	return stamps, nil
}

func (f *tlsFiles) load() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", f.cert, f.key, err)
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, Certificates: []tls.Certificate{pair}}
	if f.clientCA == "" {
		return c, nil
	}
	data, err := os.ReadFile(f.clientCA)
	if err != nil {
		return nil, err
	}
	c.ClientCAs = x509.NewCertPool()
	if !c.ClientCAs.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("%s: %w", f.clientCA, errors.New("there is no certificate in PEM"))
	}
	// A caller without a certificate may have a token, and probes have neither.
	c.ClientAuth = tls.VerifyClientCertIfGiven
	return c, nil
}
