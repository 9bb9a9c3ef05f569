// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"fmt"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/informer-gen/informer-gen/server/watchcache"
)

const (
	benchObjects = 10_000
	benchBytes   = 1200
	transaction  = 100 // writes; etcd allows 128
)

// newFilled returns a storage of objects of some size. They are written in transactions, which is
// quicker, so many have the same version.
func newFilled(b *testing.B) *Storage {
	b.Helper()
	s := New(newClient(b), "/registry/example.com/widgets", "spec.nodeName")
	for i := 0; i < benchObjects; i += transaction {
		var puts []clientv3.Op
		for j := i; j < i+transaction; j++ {
			data := benchWidget(j, 0)
			puts = append(puts, clientv3.OpPut(fmt.Sprintf("%sa/w%05d", s.prefix, j), string(data)))
		}
		if _, err := s.client.Txn(b.Context()).Then(puts...).Commit(); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

// benchWidget returns object i after some changes.
func benchWidget(i, changes int) []byte {
	text := strings.Repeat("x", benchBytes-200)
	return fmt.Appendf(nil, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w%05d","namespace":"a"},"spec":{"nodeName":"n%d","changes":"%08d","text":%q}}`,
		i, i%100, changes, text)
}

// newCache runs a filled cache until the benchmark ends.
func newCache(b *testing.B, s *Storage) *watchcache.Cache {
	b.Helper()
	c := must(watchcache.New(watchcache.Config{Storage: s}))
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = c.Run(ctx) // the cause of ctx
	}()
	b.Cleanup(func() {
		stop()
		<-ended
	})
	if err := c.WaitReady(b.Context()); err != nil {
		b.Fatal(err)
	}
	return c
}

// Benchmark measures lists and watches of 10,000 objects of 1.2 KB in etcd, with and without a
// cache. etcd runs in the same process: its part of a list is most of it.
func Benchmark(b *testing.B) {
	s := newFilled(b)
	b.Run("list/etcd", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if objects, _, err := s.List(b.Context()); err != nil || len(objects) != benchObjects {
				b.Fatal(len(objects), err)
			}
		}
	})
	b.Run("list/cache", func(b *testing.B) {
		c := newCache(b, s)
		b.ReportAllocs()
		for b.Loop() {
			if list, err := c.List(b.Context(), watchcache.ListOptions{}); err != nil || len(list.Objects) != benchObjects {
				b.Fatal(err)
			}
		}
	})
	b.Run("list/cache, as fresh as etcd", func(b *testing.B) {
		c := newCache(b, s)
		b.ReportAllocs()
		for b.Loop() {
			if err := s.WaitUntilFresh(b.Context(), c); err != nil {
				b.Fatal(err)
			}
			if _, err := c.List(b.Context(), watchcache.ListOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("fill", func(b *testing.B) {
		for b.Loop() {
			newCache(b, s)
		}
	})
	for _, watchers := range []int{1, 1000} {
		b.Run(fmt.Sprintf("change to all/watchers=%d", watchers), func(b *testing.B) { benchDeliver(b, s, watchers) })
	}
}

// benchDeliver measures the time from the beginning of a write until all watchers have its event.
func benchDeliver(b *testing.B, s *Storage, watchers int) {
	c := newCache(b, s)
	got := make(chan struct{}, watchers)
	for range watchers {
		w, err := c.Watch(b.Context(), watchcache.WatchOptions{Format: watchcache.JSON{}, Receive: func(events []watchcache.Event, _ error) bool {
			for range events {
				got <- struct{}{}
			}
			return true
		}})
		if err != nil {
			b.Fatal(err)
		}
		defer w.Close()
	}
	b.ReportAllocs()
	changes := 0
	for b.Loop() {
		changes++
		if _, err := s.Update(b.Context(), benchWidget(changes%benchObjects, changes)); err != nil {
			b.Fatal(err)
		}
		for range watchers {
			<-got
		}
	}
}
