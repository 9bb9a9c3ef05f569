// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/server/watchcache"
)

// patience bounds each test.
const patience = 2 * time.Minute

func widget(name, node string) []byte {
	return []byte(fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":%q,"namespace":"a"},"spec":{"nodeName":%q}}`, name, node))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestWrites(t *testing.T) {
	s := New(newClient(t), "/registry/example.com/widgets", "spec.nodeName")
	ctx := t.Context()
	made, err := s.Create(ctx, widget("x", "n1"))
	if err != nil {
		t.Fatal(err)
	}
	if made.Key != "a/x" || made.UID == "" || made.Version == 0 || made.Fields.Get("spec.nodeName") != "n1" {
		t.Errorf("Create returned %+v", made)
	}
	read, err := watchcache.ParseJSON(made.Bytes)
	if err != nil || read.Version != made.Version || read.UID != made.UID {
		t.Errorf("the created bytes have %+v, error %v", read, err)
	}
	changed, err := s.Update(ctx, widget("x", "n2"))
	if err != nil {
		t.Fatal(err)
	}
	if changed.UID != made.UID || changed.Version <= made.Version || changed.Fields.Get("spec.nodeName") != "n2" {
		t.Errorf("Update returned %+v", changed)
	}
	foreign := New(s.client, "/registry/example.com/widgetsets")
	for what, refused := range map[string]struct {
		err  error
		want error
	}{
		"a second Create":             {errOf(s.Create(ctx, widget("x", "n1"))), watchcache.ErrExists},
		"Update of an older version":  {errOf(s.Update(ctx, made.Bytes)), watchcache.ErrConflict},
		"Update of a missing object":  {errOf(s.Update(ctx, widget("y", "n1"))), watchcache.ErrNotFound},
		"Update under another prefix": {errOf(foreign.Update(ctx, widget("x", "n1"))), watchcache.ErrNotFound},
		"Delete of an older version":  {errOf(s.Delete(ctx, "a/x", watchcache.Preconditions{Version: made.Version})), watchcache.ErrConflict},
		"Delete of another uid":       {errOf(s.Delete(ctx, "a/x", watchcache.Preconditions{UID: "1"})), watchcache.ErrConflict},
		"Delete of a missing object":  {errOf(s.Delete(ctx, "a/y", watchcache.Preconditions{})), watchcache.ErrNotFound},
	} {
		if !errors.Is(refused.err, refused.want) {
			t.Errorf("%s: error %v, want %v", what, refused.err, refused.want)
		}
	}
	last, err := s.Delete(ctx, "a/x", watchcache.Preconditions{UID: made.UID, Version: changed.Version})
	if err != nil || last.Version != changed.Version {
		t.Errorf("Delete returned %+v, %v", last, err)
	}
	if objects, _, err := s.List(ctx); err != nil || len(objects) != 0 {
		t.Errorf("after Delete, List() = %v, error %v; want no objects", objects, err)
	}
}

func errOf(_ *watchcache.Object, err error) error { return err }

// TestCache runs a watch cache on etcd.
func TestCache(t *testing.T) {
	s := New(newClient(t), "/registry/widgets", "spec.nodeName")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	before := must(s.Create(ctx, widget("before", "n1")))
	c := must(watchcache.New(watchcache.Config{Storage: s, Wait: patience}))
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- c.Run(running) }()
	defer func() {
		stop()
		<-ended
	}()
	if err := c.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	w, err := c.Watch(ctx, watchcache.WatchOptions{InitialEvents: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	want := []string{fmt.Sprint(watch.Added, " a/before ", before.Version)}
	made := must(s.Create(ctx, widget("x", "n1")))
	want = append(want, fmt.Sprint(watch.Added, " a/x ", made.Version))
	changed := must(s.Update(ctx, widget("x", "n2")))
	want = append(want, fmt.Sprint(watch.Modified, " a/x ", changed.Version))
	must(s.Delete(ctx, "a/x", watchcache.Preconditions{}))

	// Objects of other prefixes advance the revision.
	other := must(New(s.client, "/registry/widgetsets").Create(ctx, widget("x", "n1")))
	if err := s.WaitUntilFresh(ctx, c); err != nil {
		t.Fatal(err)
	}
	if now := c.Status().Version; now != other.Version {
		t.Errorf("the cache is at version %d, want %d", now, other.Version)
	}
	deleted := other.Version - 1
	other = must(New(s.client, "/registry/widgetsets").Create(ctx, widget("y", "n1")))
	if list, err := c.List(ctx, watchcache.ListOptions{NotOlderThan: other.Version}); err != nil || list.Version != other.Version {
		t.Errorf("List at a version of another prefix: %+v, error %v", list, err)
	}
	want = append(want, fmt.Sprint(watch.Deleted, " a/x ", deleted))
	var got []string
	for len(got) < len(want) {
		events, err := w.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			got = append(got, fmt.Sprint(e.Type, " ", e.Object.Key, " ", e.Version))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the events are\n%q, want\n%q", got, want)
	}
}

// compactingKV compacts the revision of a list after its first page.
type compactingKV struct {
	clientv3.KV
	after func()
}

func (c *compactingKV) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	page, err := c.KV.Get(ctx, key, opts...)
	if after := c.after; after != nil {
		c.after = nil
		after()
	}
	return page, err
}

// TestListHasPagesOfOneRevision lists several pages. If the revision is compacted before the last
// page, the list starts again.
func TestListHasPagesOfOneRevision(t *testing.T) {
	client := newClient(t)
	s := New(client, "/registry/widgets")
	var want []string
	for i := range pageSize + 1 {
		want = append(want, must(s.Create(t.Context(), widget(fmt.Sprintf("w%05d", i), "n1"))).Key)
	}
	check := func() {
		t.Helper()
		objects, version, err := s.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		var last uint64
		for _, o := range objects {
			got, last = append(got, o.Key), max(last, o.Version)
		}
		if !slices.Equal(got, want) || version != last {
			t.Errorf("List: %d objects at version %d, want %d at %d", len(got), version, len(want), last)
		}
	}
	check()
	client.KV = &compactingKV{client.KV, func() {
		added := must(s.Create(t.Context(), widget("added", "n1")))
		want = append([]string{added.Key}, want...)
		must(client.Compact(t.Context(), int64(added.Version)))
	}}
	check()
}

func TestCompacted(t *testing.T) {
	client := newClient(t)
	s := New(client, "/registry/widgets")
	first := must(s.Create(t.Context(), widget("x", "n1")))
	second := must(s.Update(t.Context(), widget("x", "n2")))
	if _, err := client.Compact(t.Context(), int64(second.Version)); err != nil {
		t.Fatal(err)
	}
	err := s.Watch(t.Context(), first.Version-1, func(watchcache.Event) error { return io.EOF })
	if expired := new(watchcache.ExpiredError); !errors.As(err, &expired) || expired.Oldest != second.Version {
		t.Errorf("Watch from a compacted revision: error %v", err)
	}
}

// TestForeignValues reads values that are no objects.
func TestForeignValues(t *testing.T) {
	for _, test := range []struct{ key, value, want string }{
		{"/registry/widgets/a/x", "k8s\x00protobuf", "etcd's /registry/widgets/a/x at revision 2"},
		{"/registry/widgets/a/y", string(widget("x", "n1")), "its metadata has the key a/x"},
	} {
		client := newClient(t)
		if _, err := client.Put(t.Context(), test.key, test.value); err != nil {
			t.Fatal(err)
		}
		_, _, err := New(client, "/registry/widgets").List(t.Context())
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("List: error %v, want one with %q", err, test.want)
		}
	}
}
