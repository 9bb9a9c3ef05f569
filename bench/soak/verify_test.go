// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"go.uber.org/goleak"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// answers is a server.
type answers func(*http.Request) (string, error)

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	text, err := a(r)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
}

// soakOf is a soak of informers that are not started.
func soakOf(t *testing.T, informers int, server answers) *soak {
	t.Helper()
	s := &soak{
		options: options{minutes: 1, rate: 1}, out: io.Discard, wrong: &problems{}, made: make([]int, len(faults)),
		cluster: &cluster{url: "http://server", http: &http.Client{Transport: server}},
	}
	s.load = &load{cluster: s.cluster, rate: 1}
	var err error
	if s.fleet, err = newFleet("http://proxy", informers, informers, s.wrong); err != nil {
		t.Fatal(err)
	}
	return s
}

// A write whose request has begun is waited for: the server may carry it out in any case, and then
// after the stores were compared.
func TestWritesAreNotGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answered atomic.Int64
		release := make(chan struct{})
		s := soakOf(t, 1, func(r *http.Request) (string, error) {
			select {
			case <-release:
			case <-r.Context().Done():
				return "", r.Context().Err()
			}
			answered.Add(1)
			return "{}", nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			s.load.run(ctx, time.Minute, 1)
		}()
		time.Sleep(90 * time.Second) // all writers have a request open
		cancel()
		synctest.Wait()
		close(release)
		<-ended
		if n := answered.Load(); n != writers {
			t.Errorf("%d requests were answered, want %d", n, writers)
		}
		if n := s.load.written.Load(); n != writers || s.load.due != 60 {
			t.Errorf("%d of %d writes, want %d of 60", n, s.load.due, writers)
		}
	})
}

// An informer that never agrees with the server is named, and so are its handlers.
func TestVerifyNamesWhatIsMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := soakOf(t, 2, func(r *http.Request) (string, error) {
			return `{"items":[{"metadata":{"namespace":"ns-1","name":"blue","uid":"u","resourceVersion":"7"}}]}`, nil
		})
		began := time.Now()
		if err := s.verify(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != patience {
			t.Errorf("it took %v, want %v", took, patience)
		}
		err := s.verdict()
		if err == nil || errors.Is(err, errTooSlow) {
			t.Fatalf("the verdict is %v", err)
		}
		for _, part := range []string{"informer 0's store", "handler 1 of informer 0", "informer 1's store", "1 of 1 objects", "ns-1/blue"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("no %q in %v", part, err)
			}
		}
	})
}

// A write that comes late is no difference.
func TestVerifyAsksTheServerAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		s := soakOf(t, 1, func(*http.Request) (string, error) {
			if asked++; asked == 1 {
				return `{"items":[{"metadata":{"namespace":"ns-1","name":"blue","uid":"u","resourceVersion":"7"}}]}`, nil
			}
			return `{"items":[]}`, nil
		})
		want := s.fleet.members[0]
		if missing := want.differences(versions{}); len(missing) != 1 || !strings.Contains(missing[0], "has not synced") {
			t.Errorf("an informer that was never run: %q", missing)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errStop) })
		if err := s.verify(ctx); err != errStop {
			t.Errorf("an interrupt gives %v, want %v", err, errStop)
		}
		if err := s.verdict(); err == nil || strings.Contains(err.Error(), "blue") {
			t.Errorf("the verdict is %v, want nothing about an object that is gone", err)
		}
	})
}

// The server's silence is named like that of an informer.
func TestVerifyNamesAServerThatSaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := soakOf(t, 1, func(r *http.Request) (string, error) {
			<-r.Context().Done()
			return "", r.Context().Err()
		})
		if err := s.verify(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.verdict(); err == nil || !strings.Contains(err.Error(), "list what informer 0 should have") {
			t.Errorf("the verdict is %v", err)
		}
	})
}

func TestWithinWaitsForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if err := within("the end", func() { time.Sleep(patience / 2) }); err != nil {
			t.Error(err)
		}
		defer time.Sleep(patience) // so that what is left behind ends, too
		if err := within("the end", func() { time.Sleep(2 * patience) }); err == nil || !strings.Contains(err.Error(), "the end has not come") {
			t.Errorf("got %v", err)
		}
	})
}

// What is left is named: an informer, a goroutine. What took its time to go is not.
func TestWhatIsLeftIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := soakOf(t, 2, func(*http.Request) (string, error) { return "", errStop })
		ended := []former{
			{"informer 0", weak.Make(s.fleet.members[0].informer)},
			{"informer 1", weak.Make(s.fleet.members[1].informer)},
		}
		kept := s.fleet.members[1].informer
		s.fleet.stop()
		before, ignored := measure(), goleak.IgnoreCurrent()
		stop := make(chan struct{})
		go func() { <-stop }()
		go time.Sleep(time.Second)
		s.released(before, ignored, ended)
		runtime.KeepAlive(kept)
		close(stop)
		text := strings.Join(s.wrong.list, "\n")
		if strings.Contains(text, "informer 0 is") || !strings.Contains(text, "informer 1 is still reachable") {
			t.Errorf("the verdict is %s", text)
		}
		if strings.Count(text, "[Goroutine ") != 1 || !strings.Contains(text, "TestWhatIsLeftIsNamed") {
			t.Errorf("the verdict names other goroutines than the one that waits for stop: %s", text)
		}
	})
}

// A slow server is a failure of its own, and only if it is the only one.
func TestVerdictOfASlowServer(t *testing.T) {
	for _, tt := range []struct {
		made         int64
		late, outage time.Duration
		slow         bool
	}{
		{60, 0, 0, false},
		{59, 0, 0, true},
		{60, 1500 * time.Millisecond, 0, false},
		{60, 2 * time.Second, 0, true},
		{60, 3 * time.Second, 2 * time.Second, false},
	} {
		s := soakOf(t, 1, nil)
		s.load.due, s.load.late, s.outage = 60, tt.late, tt.outage
		s.load.written.Store(tt.made)
		s.report()
		if err := s.verdict(); errors.Is(err, errTooSlow) != tt.slow || (err != nil) != tt.slow {
			t.Errorf("%+v: the verdict is %v", tt, err)
		}
		s.wrong.add("the sky falls")
		if err := s.verdict(); err == nil || errors.Is(err, errTooSlow) {
			t.Errorf("%+v: the verdict is %v, want what is worse than a slow server", tt, err)
		}
	}
}

// Versions grow beyond a deletion.
func TestCheckerOfWhatComesBack(t *testing.T) {
	s := soakOf(t, 1, nil)
	h := s.fleet.members[0].handlers[0]
	probe := func(version string) *Probe {
		p := &Probe{}
		p.Name, p.UID, p.ResourceVersion = "blue", "u", version
		return p
	}
	first := probe("5")
	h.OnAdd(first, true)
	h.OnDelete(informer.Deleted[*Probe]{Key: object.KeyOf(first), Object: probe("7")})
	h.OnAdd(probe("8"), false)
	if len(s.wrong.list) > 0 {
		t.Error(s.wrong.list)
	}
	h.OnDelete(informer.Deleted[*Probe]{Key: object.KeyOf(first), Object: probe("9")})
	h.OnAdd(probe("6"), false)
	if len(s.wrong.list) != 1 {
		t.Errorf("an older state after a deletion: %q", s.wrong.list)
	}
}
