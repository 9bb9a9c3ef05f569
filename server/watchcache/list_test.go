// SPDX-License-Identifier: Apache-2.0

package watchcache_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// writeHistory fills the storage with versions 2 to 8.
func (r *rig) writeHistory() {
	r.create("a/one", "app=x", "node=n1")   // 2
	r.create("a-b/one", "app=x", "node=n2") // 3
	r.create("a/two", "app=y", "node=n1")   // 4
	r.create("b/one", "node=n3")            // 5
	r.update("a/two", "app=x", "node=n2")   // 6
	r.remove("b/one")                       // 7
	r.create("ab/one", "app=y", "node=n1")  // 8
}

// TestList checks pages and their Continue and Remaining. TestModel compares lists with a model.
func TestList(t *testing.T) {
	for name, test := range map[string]struct {
		options   watchcache.ListOptions
		version   uint64
		want      []string
		next      string
		remaining int
	}{
		"two namespaces at once":                {options: watchcache.ListOptions{Filter: newFilter("a", "", "metadata.namespace=ab")}, version: 8, remaining: -1},
		"all names but one":                     {options: watchcache.ListOptions{Filter: newFilter("", "", "metadata.name!=one")}, version: 8, want: []string{"a/two@6"}, remaining: -1},
		"a page":                                {options: watchcache.ListOptions{Limit: 2}, version: 8, want: []string{"a-b/one@3", "a/one@2"}, next: "a/one\x00", remaining: 2},
		"the next page, of an older state":      {options: watchcache.ListOptions{Limit: 2, Exact: 5, From: "a/one\x00"}, version: 5, want: []string{"a/two@4", "b/one@5"}},
		"a page with all objects":               {options: watchcache.ListOptions{Limit: 4}, version: 8, want: []string{"a-b/one@3", "a/one@2", "a/two@6", "ab/one@8"}},
		"a page from a key, of an older state":  {options: watchcache.ListOptions{Limit: 1, Exact: 5, From: "a/two"}, version: 5, want: []string{"a/two@4"}, next: "a/two\x00", remaining: 1},
		"a page after the end":                  {options: watchcache.ListOptions{Limit: 4, From: "z"}, version: 8},
		"a page of a namespace":                 {options: watchcache.ListOptions{Filter: newFilter("a", "", ""), Limit: 1}, version: 8, want: []string{"a/one@2"}, next: "a/one\x00", remaining: 1},
		"a page of a namespace, from before it": {options: watchcache.ListOptions{Filter: newFilter("a", "", ""), Limit: 1, From: "a-b/one\x00"}, version: 8, want: []string{"a/one@2"}, next: "a/one\x00", remaining: 1},
		"a page of one name":                    {options: watchcache.ListOptions{Filter: newFilter("a", "", "metadata.name=one"), Limit: 1}, version: 8, want: []string{"a/one@2"}, remaining: -1},
		"a page of one name, continued":         {options: watchcache.ListOptions{Filter: newFilter("a", "", "metadata.name=one"), Limit: 1, From: "a/a"}, version: 8, want: []string{"a/one@2"}, next: "a/one\x00", remaining: -1},
		"a name in a namespace":                 {options: watchcache.ListOptions{Filter: watchcache.Filter{Namespace: "a", Name: "two"}}, version: 8, want: []string{"a/two@6"}, remaining: -1},
		"a page by a label":                     {options: watchcache.ListOptions{Filter: newFilter("", "app=x", ""), Limit: 2}, version: 8, want: []string{"a-b/one@3", "a/one@2"}, next: "a/one\x00", remaining: -1},
		"a full page, nothing selected follows": {options: watchcache.ListOptions{Filter: newFilter("", "app=x", ""), Limit: 3}, version: 8, want: []string{"a-b/one@3", "a/one@2", "a/two@6"}, next: "a/two\x00", remaining: -1},
		"a full page, nothing follows":          {options: watchcache.ListOptions{Filter: newFilter("", "", "spec.node=n1"), Limit: 2}, version: 8, want: []string{"a/one@2", "ab/one@8"}, remaining: -1},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, watchcache.Config{}, func(t *testing.T, r *rig) {
				r.writeHistory()
				l, err := r.cache.List(r.Context(), test.options)
				if err != nil {
					t.Fatal(err)
				}
				if got := objectStrings(l.Objects); !slices.Equal(got, test.want) {
					t.Errorf("List() has the objects %q, want %q", got, test.want)
				}
				if l.Version != test.version || l.Continue != test.next || l.Remaining != test.remaining {
					t.Errorf("List() has version %d, continue %q, remaining %d; want %d, %q, %d",
						l.Version, l.Continue, l.Remaining, test.version, test.next, test.remaining)
				}
			})
		})
	}
}

// TestWaitForVersion shows that a request is answered as soon as the cache has its version, and
// that it gives up after Config.Wait or with its context. The bubble's end shows that no goroutine
// is left.
func TestWaitForVersion(t *testing.T) {
	inBubble(t, watchcache.Config{}, func(t *testing.T, r *rig) {
		began := time.Now()
		go func() {
			time.Sleep(time.Second)
			r.create("a/one")
		}()
		for _, wait := range []func() error{
			func() error { return r.cache.WaitUntilFresh(r.Context(), 2) },
			func() error { _, err := r.cache.List(r.Context(), watchcache.ListOptions{NotOlderThan: 2}); return err },
		} {
			if err := wait(); err != nil || time.Since(began) != time.Second {
				t.Errorf("the wait returned %v after %v, want nil after 1s", err, time.Since(began))
			}
		}

		began = time.Now()
		_, err := r.cache.List(r.Context(), watchcache.ListOptions{Exact: 9})
		if tooLarge := new(watchcache.TooLargeError); !errors.As(err, &tooLarge) || *tooLarge != (watchcache.TooLargeError{Version: 9, Current: 2}) {
			t.Errorf("List at version 9: got %v, want a TooLargeError with the current version 2", err)
		}
		if waited := time.Since(began); waited != 3*time.Second {
			t.Errorf("List waited %v, want 3s", waited)
		}
		if _, err := r.cache.Watch(r.Context(), watchcache.WatchOptions{InitialEvents: true, After: 9}); !errors.As(err, new(*watchcache.TooLargeError)) {
			t.Errorf("Watch after version 9: got %v, want a TooLargeError", err)
		}

		cause := errors.New("the client has gone")
		ctx, cancel := context.WithTimeoutCause(r.Context(), time.Second, cause)
		defer cancel()
		if _, err := r.cache.Get(ctx, "a/one", 9); err != cause {
			t.Errorf("Get with an ended context: got %v, want %v", err, cause)
		}
	})
}

// TestExpiredVersions shows the versions that requests may name after changes have left the log.
func TestExpiredVersions(t *testing.T) {
	inBubble(t, watchcache.Config{Age: time.Minute}, func(t *testing.T, r *rig) {
		r.create("a/one")
		time.Sleep(40 * time.Second)
		r.create("a/two")
		time.Sleep(30 * time.Second)
		for version, want := range map[uint64]error{
			1: &watchcache.ExpiredError{Version: 1, Oldest: 2},
			2: nil,
			3: nil,
		} {
			_, err := r.cache.List(r.Context(), watchcache.ListOptions{Exact: version})
			if fmt.Sprint(err) != fmt.Sprint(want) {
				t.Errorf("List at version %d: got %v, want %v", version, err, want)
			}
			w, err := r.cache.Watch(r.Context(), watchcache.WatchOptions{After: version})
			if fmt.Sprint(err) != fmt.Sprint(want) {
				t.Errorf("Watch after version %d: got %v, want %v", version, err, want)
			}
			if err == nil {
				w.Close()
			}
		}
		if s := r.cache.Status(); s.Oldest != 2 || s.Version != 3 || s.Changes != 1 || s.Objects != 2 || s.ObjectBytes < 500 {
			t.Errorf("Status() = %+v, want versions 2 to 3, 1 change, 2 objects", s)
		}
	})
}

// TestNotReady shows the error of requests before the cache is filled, and after Run.
func TestNotReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := errors.New("the storage is down")
		storage := &scriptedStorage{list: func() ([]*watchcache.Object, uint64, error) { return nil, 0, down }}
		var stop context.CancelFunc
		c := run(t, watchcache.Config{Storage: storage}, logr.Discard(), &stop)
		check := func(why error) {
			t.Helper()
			_, getErr := c.Get(t.Context(), "a/one", 0)
			_, listErr := c.List(t.Context(), watchcache.ListOptions{})
			_, watchErr := c.Watch(t.Context(), watchcache.WatchOptions{})
			for _, err := range []error{getErr, listErr, watchErr, c.WaitUntilFresh(t.Context(), 7)} {
				if notReady := new(watchcache.NotReadyError); !errors.As(err, &notReady) || !errors.Is(err, why) || notReady.Since != 10*time.Second {
					t.Errorf("got %v, want a NotReadyError since 10s because of %v", err, why)
				}
			}
			if s := c.Status(); s.Ready || !errors.Is(s.Err, why) {
				t.Errorf("Status() = %+v, want not ready because of %v", s, why)
			}
		}
		time.Sleep(10 * time.Second)
		check(down)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.WaitReady(ctx); err != context.Canceled {
			t.Errorf("WaitReady with a canceled context: got %v, want %v", err, context.Canceled)
		}
		stop()
		check(context.Canceled)
		if err := c.WaitReady(t.Context()); !errors.Is(err, context.Canceled) {
			t.Errorf("WaitReady after Run: got %v, want %v", err, context.Canceled)
		}
		if err := c.Run(t.Context()); err == nil {
			t.Error("the second Run returned no error")
		}
	})
}

// TestMalformedShard shows that List and Watch refuse a malformed shard selector.
func TestMalformedShard(t *testing.T) {
	inBubble(t, watchcache.Config{}, func(t *testing.T, r *rig) {
		malformed := watchcache.Filter{Shard: "shardRange(x)"}
		if _, err := r.cache.List(t.Context(), watchcache.ListOptions{Filter: malformed}); err == nil || !strings.Contains(err.Error(), "listing: the shard selector") {
			t.Errorf("List: got %v, want an error about the shard selector", err)
		}
		if _, err := r.cache.Watch(t.Context(), watchcache.WatchOptions{Filter: malformed}); err == nil || !strings.Contains(err.Error(), "watching: the shard selector") {
			t.Errorf("Watch: got %v, want an error about the shard selector", err)
		}
	})
}

func TestNewRejectsInvalidConfig(t *testing.T) {
	for name, config := range map[string]watchcache.Config{
		"no storage":   {},
		"negative age": {Storage: &scriptedStorage{}, Age: -1},
	} {
		if _, err := watchcache.New(config); err == nil {
			t.Errorf("New with %s returned no error", name)
		}
	}
}
