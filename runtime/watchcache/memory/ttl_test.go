// SPDX-License-Identifier: Apache-2.0

package memory_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/watchcache"
	"github.com/informer-gen/informer-gen/runtime/watchcache/memory"
)

// TestTTL has objects end by themselves, and a watch see it.
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
			t.Errorf("at the end there are %v at %d, %v", objects, version, err)
		}
	})
}

func TestNegativeTTL(t *testing.T) {
	s := memory.New()
	if _, err := s.Create(t.Context(), data("a", "")); err != nil {
		t.Fatal(err)
	}
	past := s.WithTTL(-time.Second)
	for _, err := range []error{
		errOf(past.Create(t.Context(), data("b", ""))),
		errOf(past.Update(t.Context(), data("a", ""))),
	} {
		if err == nil || !strings.Contains(err.Error(), "its time to live is -1s; it must not be negative") {
			t.Errorf("the error is %v", err)
		}
	}
	if s.Version() != 2 {
		t.Errorf("the version is %d after writes that failed", s.Version())
	}
}

func errOf(_ *watchcache.Object, err error) error { return err }
