// SPDX-License-Identifier: Apache-2.0

package memory_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/server/memory"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// TestTTL shows the deletions of expired objects in a watch.
func TestTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		began := time.Now()
		var got []string
		ctx, cancel := context.WithCancel(t.Context())
		watched := make(chan error)
		go func() {
			watched <- s.Watch(ctx, 1, func(e watchcache.Event) error {
				got = append(got, fmt.Sprint(time.Since(began), " ", e.Type, " ", e.Object.Key, " ", e.Version))
				return nil
			})
		}()
		hour, day := s.WithTTL(time.Hour), s.WithTTL(24*time.Hour)
		write := func(o *watchcache.Object, err error) *watchcache.Object {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			return o
		}
		write(hour.Create(t.Context(), data("a", "")))
		write(hour.Create(t.Context(), data("again", "")))
		write(hour.Create(t.Context(), data("kept", "")))
		write(hour.Create(t.Context(), data("made anew", "")))
		write(s.WithTTL(0).Create(t.Context(), data("stays", "")))
		time.Sleep(time.Minute)
		write(day.Update(t.Context(), data("again", "")))
		write(s.Update(t.Context(), data("kept", "")))
		write(s.Delete(t.Context(), "made anew", watchcache.Preconditions{}))
		write(hour.Create(t.Context(), data("made anew", "")))
		time.Sleep(48 * time.Hour)
		synctest.Wait()
		cancel()
		if err := <-watched; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		want := []string{
			"0s ADDED a 2", "0s ADDED again 3", "0s ADDED kept 4", "0s ADDED made anew 5", "0s ADDED stays 6",
			"1m0s MODIFIED again 7", "1m0s MODIFIED kept 8", "1m0s DELETED made anew 9", "1m0s ADDED made anew 10",
			"1h0m0s DELETED a 11", "1h1m0s DELETED made anew 12", "24h1m0s DELETED again 13",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if objects, version, err := s.List(t.Context()); err != nil || version != 13 || len(objects) != 2 {
			t.Errorf("List() = %v, %d, %v; want two objects at version 13", objects, version, err)
		}
	})
}

// TestReplacedTimersAreCollected replaces an object again and again, in a bubble, where the TTL
// never passes. The stopped timers must not take memory until then.
func TestReplacedTimersAreCollected(t *testing.T) {
	const times, most = 10_000, 1 << 20
	for name, replace := range map[string]func(s, hour *memory.Storage, version uint64) error{
		"by an update": func(_, hour *memory.Storage, _ uint64) error {
			return errOf(hour.Update(t.Context(), data("a", "")))
		},
		"by a deletion": func(s, hour *memory.Storage, _ uint64) error {
			_, err := s.Delete(t.Context(), "a", watchcache.Preconditions{})
			return errors.Join(err, errOf(hour.Create(t.Context(), data("a", ""))))
		},
		"by a change made elsewhere": func(s, hour *memory.Storage, version uint64) error {
			err := s.Apply(watchcache.Event{Type: watch.Deleted, Object: &watchcache.Object{Key: "a"}, Version: version + 1})
			return errors.Join(err, errOf(hour.Create(t.Context(), data("a", ""))))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := memory.New()
				hour := s.WithTTL(time.Hour)
				if _, err := hour.Create(t.Context(), data("a", "")); err != nil {
					t.Fatal(err)
				}
				before := heap()
				for range times {
					if err := replace(s, hour, s.Version()); err != nil {
						t.Fatal(err)
					}
					s.Compact(s.Version())
				}
				if after := heap(); after > before+most {
					t.Errorf("%d writes have left %d bytes, want at most %d", times, after-before, most)
				}
				runtime.KeepAlive(s)
			})
		})
	}
}

// heap returns the size of the heap, without garbage.
func heap() int64 {
	var m runtime.MemStats
	for range 2 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestNegativeTTL(t *testing.T) {
	s := memory.New()
	if _, err := s.Create(t.Context(), data("a", "")); err != nil {
		t.Fatal(err)
	}
	negative := s.WithTTL(-time.Second)
	for _, err := range []error{
		errOf(negative.Create(t.Context(), data("b", ""))),
		errOf(negative.Update(t.Context(), data("a", ""))),
	} {
		if err == nil || !strings.Contains(err.Error(), "the TTL is -1s; it must not be negative") {
			t.Errorf("got %v, want an error about the TTL", err)
		}
	}
	if s.Version() != 2 {
		t.Errorf("after failed writes the version is %d, want 2", s.Version())
	}
}

func errOf(_ *watchcache.Object, err error) error { return err }
