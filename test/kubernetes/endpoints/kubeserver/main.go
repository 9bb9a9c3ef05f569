// SPDX-License-Identifier: Apache-2.0

package kubeserver

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

// Main runs the server, and then ends the process, if Start has started it. Otherwise it returns.
func Main() {
	dir := os.Getenv(folder)
	if dir == "" {
		return
	}
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	if err := serve(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serve runs etcd and the API server until the standard input ends.
func serve(dir string) error {
	etcd, err := startEtcd(filepath.Join(dir, "etcd"))
	if err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	defer etcd.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	reach := access{URL: "https://" + listener.Addr().String(), Token: rand.Text()}
	o, err := configure(dir, etcd.Clients[0].Addr().String(), listener, reach.Token)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	completed, err := o.Complete(ctx)
	if err != nil {
		return err
	}
	if errs := completed.Validate(); len(errs) > 0 {
		return fmt.Errorf("options: %v", errs)
	}
	ended := make(chan error, 1)
	go func() { ended <- app.Run(ctx, completed) }()
	if err := json.NewEncoder(os.Stdout).Encode(reach); err != nil {
		return err
	}
	if err := os.Stdout.Close(); err != nil { // Start reads only the first line
		return err
	}
	over := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(over)
	}()
	select {
	case err := <-ended:
		return fmt.Errorf("kube-apiserver has ended: %w", err)
	case <-over:
		return nil // no orderly shutdown: nothing of the server is needed any more
	}
}

// configure returns the options of a kube-apiserver without the rest of a cluster.
func configure(dir, etcd string, listener net.Listener, token string) (*options.ServerRunOptions, error) {
	key, err := writeKey(filepath.Join(dir, "key.pem"))
	if err != nil {
		return nil, err
	}
	tokens := filepath.Join(dir, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(token+",admin,admin,system:masters\n"), 0o600); err != nil {
		return nil, err
	}
	o := options.NewServerRunOptions()
	if err := o.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return nil, err
	}
	o.SecureServing.Listener = listener
	o.SecureServing.BindAddress = net.IPv4(127, 0, 0, 1)
	o.SecureServing.BindPort = listener.Addr().(*net.TCPAddr).Port
	o.SecureServing.ServerCert.CertDirectory = filepath.Join(dir, "certificates")
	o.Etcd.StorageConfig.Transport.ServerList = []string{"http://" + etcd}
	o.Etcd.StorageConfig.CompactionInterval = 24 * time.Hour
	o.ServiceClusterIPRanges = "10.96.0.0/16,fd00:96::/112"
	o.EndpointReconcilerType = "none"
	o.Authentication.TokenFile.TokenFile = tokens
	o.Authentication.ServiceAccounts.Issuers = []string{"https://kubeserver.invalid"}
	o.Authentication.ServiceAccounts.KeyFiles = []string{key}
	o.ServiceAccountSigningKeyFile = key
	o.Authorization.Modes = []string{"AlwaysAllow"}
	// No controller creates service accounts.
	o.Admission.GenericAdmission.DisablePlugins = []string{"ServiceAccount"}
	return o, nil
}

func writeKey(file string) (string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	pem, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return "", err
	}
	return file, os.WriteFile(file, pem, 0o600)
}

// startEtcd runs a single member, and waits until it is the leader.
func startEtcd(dir string) (*embed.Etcd, error) {
	anyPort := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	c := embed.NewConfig()
	c.Dir = dir
	c.ListenPeerUrls, c.AdvertisePeerUrls = anyPort, anyPort
	c.ListenClientUrls, c.AdvertiseClientUrls = anyPort, anyPort
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	c.TickMs, c.ElectionMs = 10, 100 // a single member elects itself
	c.UnsafeNoFsync = true
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	etcd, err := embed.StartEtcd(c)
	if err != nil {
		return nil, err
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd, nil
	case err := <-etcd.Err():
		return nil, err
	}
}
