// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"

	"k8s.io/klog/v2"
)

// checkInterval is the shortest time between two looks at the files of a certificate.
const checkInterval = 10 * time.Second

// certificate is a certificate in files, read again when they change. While they can't be read, as
// between the replacements of the two, the last one stays in use.
type certificate struct {
	// set once at construction
	certFile, keyFile string

	mu       sync.Mutex // mu guards the fields below
	pair     *tls.Certificate
	checked  time.Time
	modified [2]time.Time
}

// tlsConfig returns the configuration of a server whose certificate and key are in files.
func tlsConfig(certFile, keyFile string) (*tls.Config, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, checked: time.Now()}
	if err := c.readLocked(); err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, GetCertificate: c.current}, nil
}

// current implements tls.Config.GetCertificate.
func (c *certificate) current(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.checked) >= checkInterval {
		c.checked = time.Now()
		if err := c.readLocked(); err != nil {
			klog.Background().Error(err, "A changed certificate can't be used; the last one stays in use")
		}
	}
	return c.pair, nil
}

// readLocked reads the files if they have changed.
func (c *certificate) readLocked() error {
	var modified [2]time.Time
	for n, file := range []string{c.certFile, c.keyFile} {
		info, err := os.Stat(file)
		if err != nil {
			return fmt.Errorf("certificate: %w", err)
		}
		modified[n] = info.ModTime()
	}
	if modified == c.modified {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("certificate %s with key %s: %w", c.certFile, c.keyFile, err)
	}
	c.pair, c.modified = &pair, modified
	return nil
}
