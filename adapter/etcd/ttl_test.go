// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/server/watchcache"
)

// TestTTL lets two objects expire at about the same time. Each deletion has its own version.
func TestTTL(t *testing.T) {
	s := New(newClient(t), "/registry/widgets")
	second := s.WithTTL(time.Second)
	first := must(second.Create(t.Context(), widget("x", "n1")))
	must(second.Create(t.Context(), widget("y", "n1"))) // the first object may already have expired
	last, added, deleted := first.Version, 0, 0
	errDone := errors.New("done")
	err := s.Watch(t.Context(), last, func(e watchcache.Event) error {
		if e.Version <= last {
			t.Errorf("%s of %s at version %d, after version %d", e.Type, e.Object.Key, e.Version, last)
		}
		last = e.Version
		switch e.Type {
		case watch.Added:
			added++
		case watch.Deleted:
			deleted++
		}
		if added+deleted == 3 {
			return errDone
		}
		return nil
	})
	if added != 1 || deleted != 2 {
		t.Errorf("after the first create, the watch got %d adds and %d deletes, want 1 and 2", added, deleted)
	}
	if err != errDone {
		t.Error(err)
	}
	if objects, _, err := s.List(t.Context()); err != nil || len(objects) != 0 {
		t.Errorf("List() = %v, error %v; want no objects", objects, err)
	}
}

// TestLeases checks the leases made by writes.
func TestLeases(t *testing.T) {
	client := newClient(t)
	s := New(client, "/registry/widgets")
	// ttl returns the remaining time of the object in seconds, or 0 without a lease.
	ttl := func() int64 {
		t.Helper()
		found := must(client.Get(t.Context(), "/registry/widgets/a/x"))
		lease := clientv3.LeaseID(found.Kvs[0].Lease)
		if lease == clientv3.NoLease {
			return 0
		}
		return must(client.TimeToLive(t.Context(), lease)).GrantedTTL
	}
	leases := func() int { return len(must(client.Leases(t.Context())).Leases) }

	must(s.WithTTL(time.Hour+time.Millisecond).Create(t.Context(), widget("x", "n1")))
	if got := ttl(); got != 3601 {
		t.Errorf("the TTL is %d s, want it rounded up to 3601", got)
	}
	must(s.WithTTL(2*time.Hour).Update(t.Context(), widget("x", "n2")))
	if got := ttl(); got != 7200 {
		t.Errorf("the TTL is %d s after an update with 7200 s", got)
	}
	before := leases()
	if _, err := s.WithTTL(time.Hour).Create(t.Context(), widget("x", "n1")); !errors.Is(err, watchcache.ErrExists) {
		t.Errorf("a second Create: error %v", err)
	}
	if got := leases(); got != before {
		t.Errorf("%d leases after a refused Create, want %d as before", got, before)
	}
	must(s.Update(t.Context(), widget("x", "n3")))
	if got := ttl(); got != 0 {
		t.Errorf("the TTL is %d s after an update without one", got)
	}
}

func TestWrongTTL(t *testing.T) {
	s := New(newClient(t), "/registry/widgets")
	must(s.Create(t.Context(), widget("x", "n1")))
	for ttl, want := range map[time.Duration]string{
		-time.Second:  "its time to live is -1s; it must not be negative",
		math.MaxInt64: "asking etcd for a lease of 2562047h47m16.854775807s: etcdserver: too large lease TTL",
	} {
		wrong := s.WithTTL(ttl)
		for what, err := range map[string]error{
			"creating a/y: ": errOf(wrong.Create(t.Context(), widget("y", "n1"))),
			"updating a/x: ": errOf(wrong.Update(t.Context(), widget("x", "n2"))),
		} {
			if err == nil || !strings.HasPrefix(err.Error(), what+want) {
				t.Errorf("error %v, want %s%s", err, what, want)
			}
		}
	}
}
