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

// TestTTL has two objects end by themselves at about the same time. Each deletion has its own
// version.
func TestTTL(t *testing.T) {
	s := New(newClient(t), "/registry/widgets")
	second := s.WithTTL(time.Second)
	first := must(second.Create(t.Context(), widget("x", "n1")))
	must(second.Create(t.Context(), widget("y", "n1"))) // by then, the first one may have ended
	last, added, deleted := first.Version, 0, 0
	errDone := errors.New("done")
	err := s.Watch(t.Context(), last, func(e watchcache.Event) error {
		if e.Version <= last {
			t.Errorf("%s of %s at version %d, after %d", e.Type, e.Object.Key, e.Version, last)
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
		t.Errorf("after the first creation there were %d more, and %d deletions", added, deleted)
	}
	if err != errDone {
		t.Error(err)
	}
	if objects, _, err := s.List(t.Context()); err != nil || len(objects) != 0 {
		t.Errorf("there are %v, %v", objects, err)
	}
}

// TestLeases looks at the leases that writes have made.
func TestLeases(t *testing.T) {
	client := newClient(t)
	s := New(client, "/registry/widgets")
	// ttl returns for how long etcd keeps the object, and 0 if that is for ever.
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
		t.Errorf("the TTL is %d s after an update that has set it to 7200", got)
	}
	before := leases()
	if _, err := s.WithTTL(time.Hour).Create(t.Context(), widget("x", "n1")); !errors.Is(err, watchcache.ErrExists) {
		t.Errorf("a second Create: %v", err)
	}
	if got := leases(); got != before {
		t.Errorf("there are %d leases after a Create that was refused, and %d before", got, before)
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
				t.Errorf("the error is %v, want %s%s", err, what, want)
			}
		}
	}
}
