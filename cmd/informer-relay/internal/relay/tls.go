// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/cmd/informer-relay/internal/configfile"
)

// checkInterval is the shortest interval between checks of the files, which handshakes make.
const checkInterval = 10 * time.Second

// tlsFiles makes TLS configurations from files, and new ones when the files change. While the new
// contents can't be read, as in the middle of a change, the previous ones stay in use.
type tlsFiles struct {
	// set once at construction
	cert, key, clientCA string

	// mu guards the fields below
	mu        sync.Mutex
	lastCheck time.Time
	modTimes  [3]time.Time
	active    *tls.Config
}

// newTLSFiles returns the TLS configuration of l, or nil if it has no files. It fails if they can't
// be read.
func newTLSFiles(l configfile.Listen) (*tlsFiles, error) {
	if l.CertFile == "" {
		return nil, nil
	}
	f := &tlsFiles{cert: l.CertFile, key: l.KeyFile, clientCA: l.ClientCAFile}
	modTimes, err := f.statFiles()
	if err == nil {
		f.active, err = f.load()
	}
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	f.modTimes, f.lastCheck = modTimes, time.Now()
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
	if time.Since(f.lastCheck) < checkInterval {
		return f.active
	}
	f.lastCheck = time.Now()
	modTimes, err := f.statFiles()
	if err == nil && modTimes == f.modTimes {
		return f.active
	}
	var reloaded *tls.Config
	if err == nil {
		reloaded, err = f.load()
	}
	if err != nil {
		klog.Background().Error(err, "The TLS files could not be reloaded; the previous ones stay in use")
		return f.active
	}
	f.active, f.modTimes = reloaded, modTimes
	return f.active
}

func (f *tlsFiles) statFiles() (modTimes [3]time.Time, err error) {
	for i, name := range []string{f.cert, f.key, f.clientCA} {
		if name == "" {
			continue
		}
		info, err := os.Stat(name)
		if err != nil {
			return modTimes, err
		}
		modTimes[i] = info.ModTime()
	}
	return modTimes, nil
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
		return nil, fmt.Errorf("%s has no certificate in PEM", f.clientCA)
	}
	// A caller without a certificate may have a token, and probes have neither.
	c.ClientAuth = tls.VerifyClientCertIfGiven
	return c, nil
}
