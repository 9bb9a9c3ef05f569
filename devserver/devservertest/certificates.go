// SPDX-License-Identifier: Apache-2.0

package devservertest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// authority signs certificates of servers on this machine.
type authority struct {
	// set once at construction
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte // the certificate
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template, err := newTemplate("devservertest")
	if err != nil {
		return nil, err
	}
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &authority{certificate, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}, nil
}

// issue writes a new certificate for host, an IP address, and its key to tls.crt and tls.key in
// dir. A reader of one file finds either the old or the new content.
func (a *authority) issue(dir, host string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template, err := newTemplate(host)
	if err != nil {
		return err
	}
	template.IPAddresses, template.DNSNames = []net.IP{net.ParseIP(host)}, []string{"localhost"}
	template.KeyUsage, template.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return errors.Join(
		replaceFile(filepath.Join(dir, "tls.key"), &pem.Block{Type: "PRIVATE KEY", Bytes: secret}),
		replaceFile(filepath.Join(dir, "tls.crt"), &pem.Block{Type: "CERTIFICATE", Bytes: der}),
	)
}

func newTemplate(name string) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(1, 0, 0),
	}, nil
}

func replaceFile(path string, block *pem.Block) error {
	if err := os.WriteFile(path+".new", pem.EncodeToMemory(block), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
