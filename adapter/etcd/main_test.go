// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"net/url"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/goleak"
	"go.uber.org/zap"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// newClient returns a client of a new etcd, which ends with the test.
func newClient(t testing.TB) *clientv3.Client {
	t.Helper()
	client, stop, err := startEtcd(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return client
}

// startEtcd starts an etcd with its data in dir. The etcds of one token have one cluster ID.
func startEtcd(dir string, token ...string) (client *clientv3.Client, stop func() error, err error) {
	anyPort := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	c := embed.NewConfig()
	c.Dir = dir
	c.ListenPeerUrls, c.AdvertisePeerUrls = anyPort, anyPort
	c.ListenClientUrls, c.AdvertiseClientUrls = anyPort, anyPort
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	c.InitialClusterToken = strings.Join(token, "")
	c.TickMs, c.ElectionMs = 10, 100 // a single member elects itself
	c.UnsafeNoFsync = true
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	server, err := embed.StartEtcd(c)
	if err != nil {
		return nil, nil, err
	}
	select {
	case <-server.Server.ReadyNotify():
		client, err = clientv3.New(clientv3.Config{Endpoints: []string{server.Clients[0].Addr().String()}, Logger: zap.NewNop()})
	case err = <-server.Err():
	}
	if err != nil {
		server.Close()
		return nil, nil, err
	}
	return client, func() error {
		err := client.Close()
		server.Close()
		return err
	}, nil
}
