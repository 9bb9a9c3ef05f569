// SPDX-License-Identifier: Apache-2.0

package storagesuite

import (
	"context"
	"net/url"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"

	"github.com/informer-gen/informer-gen/adapter/etcd"
	"github.com/informer-gen/informer-gen/server/serve"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// writer writes to a storage.
type writer = serve.Writer

// rig is an empty storage with the operations of the suites.
type rig struct {
	storage interface {
		watchcache.Storage
		writer
	}
	// withTTL returns a writer of objects that expire.
	withTTL func(time.Duration) writer
	// fresh waits until a cache has the storage's version at the call.
	fresh func(context.Context, *watchcache.Cache) error
	// increase increments the version without a change of the cache's objects.
	increase func(context.Context) (int64, error)
	// compact compacts the history up to a version.
	compact func(ctx context.Context, version uint64) error
}

// rigs are the storages under test, by name.
var rigs = map[string]func(*testing.T) rig{"memory": newMemory, "etcd": newEtcd}

func newEtcd(t *testing.T) rig {
	t.Helper()
	client := startEtcd(t)
	s := etcd.New(client, "/registry/pods", nodeName)
	return rig{
		storage: s,
		withTTL: func(ttl time.Duration) writer { return s.WithTTL(ttl) },
		fresh:   s.WaitUntilFresh,
		increase: func(ctx context.Context) (int64, error) {
			put, err := client.Put(ctx, "/registry/others", "")
			if err != nil {
				return 0, err
			}
			return put.Header.Revision, nil
		},
		compact: func(ctx context.Context, version uint64) error {
			_, err := client.Compact(ctx, int64(version))
			return err
		},
	}
}

// startEtcd returns a client of a new etcd, which ends with the test.
func startEtcd(t *testing.T) *clientv3.Client {
	t.Helper()
	anyPort := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	c := embed.NewConfig()
	c.Dir = t.TempDir()
	c.ListenPeerUrls, c.AdvertisePeerUrls = anyPort, anyPort
	c.ListenClientUrls, c.AdvertiseClientUrls = anyPort, anyPort
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	c.TickMs, c.ElectionMs = 10, 100 // a single member elects itself
	c.UnsafeNoFsync = true
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	server, err := embed.StartEtcd(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	select {
	case <-server.Server.ReadyNotify():
	case err := <-server.Err():
		t.Fatal(err)
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{server.Clients[0].Addr().String()}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return client
}
