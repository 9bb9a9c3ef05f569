// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/informer-gen/informer-gen/server/watchcache"
)

// TestRestoredBackup replaces a cache's etcd by another, as if a backup were restored. The client
// resumes its watch there without an error.
func TestRestoredBackup(t *testing.T) {
	for name, test := range map[string]struct {
		token string
		more  int // further changes, for a newer revision than the cache's
	}{"an older revision": {}, "another cluster": {"other", 20}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, stop, err := startEtcd(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			stopFirst := sync.OnceValue(stop)
			defer stopFirst()
			client := must(clientv3.New(clientv3.Config{Endpoints: first.Endpoints(), Logger: zap.NewNop()}))
			defer client.Close()
			restored, stopRestored, err := startEtcd(t.TempDir(), test.token)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := stopRestored(); err != nil {
					t.Error(err)
				}
			}()
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			before, after := New(client, "/registry/widgets"), New(restored, "/registry/widgets")
			must(after.Create(ctx, widget("one", "n1")))
			for range test.more {
				must(after.Update(ctx, widget("one", "n1")))
			}
			for _, name := range []string{"one", "two", "three"} {
				must(before.Create(ctx, widget(name, "n2")))
			}

			before.silence = 500 * time.Millisecond
			c := must(watchcache.New(watchcache.Config{Storage: before, Wait: patience}))
			running, end := context.WithCancel(ctx)
			ended := make(chan error, 1)
			go func() { ended <- c.Run(running) }()
			defer func() {
				end()
				<-ended
			}()
			if err := c.WaitReady(ctx); err != nil {
				t.Fatal(err)
			}
			w := must(c.Watch(ctx, watchcache.WatchOptions{}))
			defer w.Close()

			client.SetEndpoints(restored.Endpoints()...)
			if err := stopFirst(); err != nil {
				t.Error(err)
			}
			for err == nil {
				_, err = w.Next(ctx)
			}
			if !errors.As(err, new(*watchcache.ExpiredError)) {
				t.Errorf("the watch ended with error %v, want 410", err)
			}
			list := must(c.List(ctx, watchcache.ListOptions{}))
			if want := must(after.Newest(ctx)); len(list.Objects) != 1 || list.Objects[0].Key != "a/one" || list.Version != want {
				t.Errorf("the cache has %d objects at %d, want one at %d", len(list.Objects), list.Version, want)
			}
			two := must(after.Create(ctx, widget("two", "n1")))
			if list := must(c.List(ctx, watchcache.ListOptions{NotOlderThan: two.Version})); len(list.Objects) != 2 {
				t.Errorf("after another create, the cache has %d objects", len(list.Objects))
			}
			if s := c.Status(); s.Relists != 1 || s.Err != nil {
				t.Errorf("Status() = %+v", s)
			}
		})
	}
}

// TestQuietWatch: a watch without changes advances with the revision of other prefixes, and ends if
// these don't change either.
func TestQuietWatch(t *testing.T) {
	s := New(newClient(t), "/registry/widgets")
	s.silence = time.Second
	other := must(New(s.client, "/registry/widgetsets").Create(t.Context(), widget("x", "n1")))
	errDone := errors.New("done")
	for from, want := range map[uint64]error{other.Version - 1: errDone, other.Version: nil} {
		err := s.Watch(t.Context(), from, func(e watchcache.Event) error {
			if e.Object != nil || e.Version != other.Version {
				t.Errorf("the watch got %+v, want a bookmark of version %d", e, other.Version)
			}
			return errDone
		})
		if err != want {
			t.Errorf("the watch from version %d ended with %v, want %v", from, err, want)
		}
	}
}
