// SPDX-License-Identifier: Apache-2.0

package memory_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/server/memory"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var _ watchcache.Storage = (*memory.Storage)(nil)

func data(name, more string) []byte {
	return []byte(`{"metadata":{"name":"` + name + `"` + more + `},"spec":{"node":"n1"}}`)
}

func TestWrites(t *testing.T) {
	s := memory.New("spec.node")
	one, err := s.Create(t.Context(), data("one", ""))
	if err != nil || one.Version != 2 || one.UID == "" || one.Fields.Get("spec.node") != "n1" || !strings.Contains(string(one.Bytes), `"resourceVersion":"2"`) {
		t.Fatalf("Create(one) = %+v, %v", one, err)
	}
	if own, err := s.Create(t.Context(), data("own", `,"uid":"mine"`)); err != nil || own.UID != "mine" {
		t.Errorf("Create(own) = %+v, %v; want the uid mine", own, err)
	}
	updated, err := s.Update(t.Context(), data("one", `,"labels":{"app":"x"}`))
	if err != nil || updated.Version != 4 || updated.UID != one.UID || updated.Labels.Get("app") != "x" {
		t.Errorf("Update(one) = %+v, %v", updated, err)
	}
	for name, test := range map[string]struct {
		write func() (*watchcache.Object, error)
		want  error
	}{
		"create an existing object": {func() (*watchcache.Object, error) { return s.Create(t.Context(), data("one", "")) }, watchcache.ErrExists},
		"update a missing object":   {func() (*watchcache.Object, error) { return s.Update(t.Context(), data("two", "")) }, watchcache.ErrNotFound},
		"update an old version": {func() (*watchcache.Object, error) {
			return s.Update(t.Context(), data("one", `,"resourceVersion":"2"`))
		}, watchcache.ErrConflict},
		"update another object":   {func() (*watchcache.Object, error) { return s.Update(t.Context(), data("one", `,"uid":"x"`)) }, watchcache.ErrConflict},
		"delete a missing object": {func() (*watchcache.Object, error) { return s.Delete(t.Context(), "two", watchcache.Preconditions{}) }, watchcache.ErrNotFound},
		"delete an old version": {func() (*watchcache.Object, error) {
			return s.Delete(t.Context(), "one", watchcache.Preconditions{Version: 2})
		}, watchcache.ErrConflict},
		"delete another object": {func() (*watchcache.Object, error) {
			return s.Delete(t.Context(), "one", watchcache.Preconditions{UID: "x"})
		}, watchcache.ErrConflict},
	} {
		if _, err := test.write(); !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", name, err, test.want)
		}
	}
	for _, write := range []func(context.Context, []byte) (*watchcache.Object, error){s.Create, s.Update} {
		if _, err := write(t.Context(), []byte(`{`)); err == nil {
			t.Error("a write of malformed JSON returned no error")
		}
	}
	if s.Version() != 4 {
		t.Errorf("after failed writes the version is %d, want 4", s.Version())
	}
	if last, err := s.Delete(t.Context(), "one", watchcache.Preconditions{UID: one.UID, Version: 4}); err != nil || last != updated {
		t.Errorf("Delete(one) = %+v, %v; want %+v", last, err, updated)
	}
	if all, version, err := s.List(t.Context()); err != nil || version != 5 || len(all) != 1 || all[0].Key != "own" {
		t.Errorf("List() = %v, %d, %v; want own at version 5", all, version, err)
	}
}

func TestApply(t *testing.T) {
	s := memory.New()
	one := &watchcache.Object{Key: "a/one", Version: 5}
	for _, e := range []watchcache.Event{
		{Type: watch.Added, Object: one, Version: 5},
		{Type: watch.Added, Object: &watchcache.Object{Key: "a/two", Version: 7}, Version: 7},
		{Type: watch.Deleted, Object: one, Version: 8},
		{Type: watch.Bookmark, Version: 10},
	} {
		if err := s.Apply(e); err != nil {
			t.Error(err)
		}
	}
	if err := s.Apply(watchcache.Event{Type: watch.Deleted, Object: one, Version: 10}); err == nil {
		t.Error("Apply of an old change returned no error")
	}
	if all, version, err := s.List(t.Context()); err != nil || version != 10 || len(all) != 1 || all[0].Key != "a/two" {
		t.Errorf("List() = %v, %d, %v; want a/two at version 10", all, version, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var got []uint64
	err := s.Watch(ended, 5, func(e watchcache.Event) error { got = append(got, e.Version); return nil })
	if fmt.Sprint(got) != "[7 8 10]" || !errors.Is(err, context.Canceled) {
		t.Errorf("Watch emitted %v, returned %v; want [7 8 10], %v", got, err, context.Canceled)
	}
}
