// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

var errEnough = errors.New("enough")

// phase is a point in an informer's life at which it can be ended.
type phase struct {
	name    string
	opts    []informer.Option
	fault   func(held chan struct{}) func(*request) fault // held is closed when the phase has come
	reached func(t *testing.T, i *informer.SharedIndexInformer[*Crate])
	handler bool // it is a handler that is busy
}

func holdIf(is func(*request) bool, bytes int) func(chan struct{}) func(*request) fault {
	return func(held chan struct{}) func(*request) fault {
		return func(r *request) fault {
			if is(r) {
				return fault{hold: held, bytes: bytes}
			}
			return fault{}
		}
	}
}

func phases() []phase {
	byList := []informer.Option{informer.WithTuning(reflector.Tuning{DisableWatchList: true, PageSize: 7})}
	watching := func(t *testing.T, i *informer.SharedIndexInformer[*Crate]) {
		awaitStatus(t, i, "watching", func(s informer.Status) bool { return s.Synced && s.Reflector.State == reflector.StateWatching })
	}
	return []phase{
		{name: "connecting for a watch-list", fault: holdIf((*request).watchList, 0)},
		{name: "connecting for a list", opts: byList, fault: holdIf((*request).list, 0)},
		{name: "in a watch-list", fault: holdIf((*request).watchList, 3000)},
		{name: "in the first page", opts: byList, fault: holdIf((*request).list, 1000)},
		{name: "before a later page", opts: byList, fault: holdIf(func(r *request) bool { return r.query.Has("continue") }, 0)},
		{name: "in a later page", opts: byList, fault: holdIf(func(r *request) bool { return r.query.Has("continue") }, 1000)},
		{name: "connecting for a watch", opts: byList, fault: holdIf((*request).watch, 0)},
		{name: "watching after a watch-list", reached: watching},
		{name: "watching after a list", opts: byList, reached: watching},
		{
			name: "waiting to try again",
			fault: func(chan struct{}) func(*request) fault {
				return func(*request) fault { return fault{status: http.StatusForbidden} }
			},
			reached: func(t *testing.T, i *informer.SharedIndexInformer[*Crate]) {
				awaitStatus(t, i, "waiting", func(s informer.Status) bool { return s.Reflector.State == reflector.StateWaiting })
			},
		},
		{
			name: "waiting as long as the server wants",
			fault: func(chan struct{}) func(*request) fault {
				return func(*request) fault { return fault{status: http.StatusTooManyRequests, retryAfter: 20} }
			},
			reached: func(t *testing.T, i *informer.SharedIndexInformer[*Crate]) {
				awaitStatus(t, i, "waiting", func(s informer.Status) bool { return s.Reflector.State == reflector.StateWaiting })
			},
		},
		{name: "in a handler", reached: watching, handler: true},
	}
}

// An informer ends completely and quickly in every phase. The test is not parallel: it counts
// goroutines.
func TestCancelInEveryPhase(t *testing.T) {
	ns := shared.crates(t)
	ns.createMany(t, 30)
	for _, ph := range phases() {
		t.Run(ph.name+"/Run", func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			t.Run("ended", func(t *testing.T) { cancelRun(t, ns, ph) })
			if err := noneLeft(deadline(t), before); err != nil {
				t.Error(err)
			}
		})
		t.Run(ph.name+"/Shutdown", func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			t.Run("ended", func(t *testing.T) { shutDown(t, ns, ph) })
			if err := noneLeft(deadline(t), before); err != nil {
				t.Error(err)
			}
		})
	}

	t.Run("before the start", func(t *testing.T) {
		before := goleak.IgnoreCurrent()
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errEnough)
		f, i := crateInformer(t, shared.url, ns)
		listen(t, i)
		if err := i.Run(ctx); !errors.Is(err, errEnough) {
			t.Errorf("Run gives %v, want %v", err, errEnough)
		}
		if err := f.Start(ctx); !errors.Is(err, errEnough) {
			t.Errorf("Start gives %v, want %v", err, errEnough)
		}
		if err := f.Shutdown(deadline(t)); err != nil {
			t.Error(err)
		}
		if err := f.Start(t.Context()); !errors.Is(err, factories.ErrShutdown) {
			t.Errorf("Start after Shutdown gives %v, want %v", err, factories.ErrShutdown)
		}
		if err := noneLeft(deadline(t), before); err != nil {
			t.Error(err)
		}
	})
}

// bring builds an informer, calls start, and returns when the informer is in the phase. The
// function that it returns releases a busy handler. It is called after the end was asked for and
// before it has come.
func bring(t *testing.T, ns in, ph phase, start func(*factories.Factory, *informer.SharedIndexInformer[*Crate])) (release func()) {
	t.Helper()
	held := make(chan struct{})
	var faults func(*request) fault
	if ph.fault != nil {
		faults = ph.fault(held)
	}
	p := newProxy(t, shared.url, faults)
	f, i := crateInformer(t, p.url, ns, ph.opts...)
	listen(t, i)
	release = func() {}
	entered := make(chan struct{}, 100)
	if ph.handler {
		_, gate, open := newGated(t)
		release = open
		if _, err := i.AddEventHandler(informer.HandlerFuncs[*Crate]{AddFunc: func(obj *Crate, initial bool) {
			entered <- struct{}{}
			gate.OnAdd(obj, initial)
		}}); err != nil {
			t.Fatal(err)
		}
	}
	start(f, i)
	if ph.reached != nil {
		ph.reached(t, i)
	} else {
		await(t, "phase "+ph.name, held)
	}
	if ph.handler {
		<-entered
	}
	return release
}

func cancelRun(t *testing.T, ns in, ph phase) {
	ctx, cancel := context.WithCancelCause(logged(context.Background(), t))
	defer cancel(nil)
	ended := make(chan error, 1)
	release := bring(t, ns, ph, func(_ *factories.Factory, i *informer.SharedIndexInformer[*Crate]) {
		go func() { ended <- i.Run(ctx) }()
	})
	defer release()
	cancel(errEnough)
	if ph.handler {
		select {
		case <-ended:
			t.Error("Run has returned before its handler")
		case <-time.After(20 * time.Millisecond):
		}
		release()
	}
	select {
	case err := <-ended:
		if err != errEnough {
			t.Errorf("Run gives %v, want %v", err, errEnough)
		}
	case <-deadline(t).Done():
		t.Fatal("Run has not returned")
	}
}

func shutDown(t *testing.T, ns in, ph phase) {
	var f *factories.Factory
	release := bring(t, ns, ph, func(made *factories.Factory, _ *informer.SharedIndexInformer[*Crate]) {
		f = made
		if err := f.Start(logged(context.Background(), t)); err != nil {
			t.Fatal(err)
		}
	})
	defer release()
	if ph.handler {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		err := f.Shutdown(ctx)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Shutdown gives %v, want %v", err, context.DeadlineExceeded)
		}
		for _, part := range []string{"crates.harbour.example.com/v1", "bring", "OnAdd", ns.namespace + "/crate-0"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("Shutdown gives %q, want it to name %q", err, part)
			}
		}
		release()
	}
	if err := f.Shutdown(deadline(t)); err != nil {
		t.Fatal(err)
	}
}

// One informer, and one handler, can be ended while others go on.
func TestEndOnItsOwn(t *testing.T) {
	t.Parallel()
	ns := shared.crates(t)
	ns.createMany(t, 3)
	client := connect(t, shared.url)
	var histories []*history[*Crate]
	var cancels []context.CancelFunc
	var ends []chan error
	for range 2 {
		f := factories.New(client, informer.WithNamespace(ns.namespace))
		i := factories.For[*Crate](f, crates)
		h, reg := listen(t, i)
		histories = append(histories, h)
		ctx, cancel := context.WithCancel(logged(t.Context(), t))
		defer cancel()
		cancels = append(cancels, cancel)
		end := make(chan error, 1)
		ends = append(ends, end)
		go func() { end <- i.Run(ctx) }()
		await(t, "sync", reg.Synced())
	}
	cancels[0]()
	<-ends[0]
	ns.load(t, "crate-001", 1)
	histories[1].awaitLine("update crate-001")
	cancels[1]()
	<-ends[1]
	if n := len(histories[0].told()); n != 3 {
		t.Errorf("the ended informer's handler was told %q", histories[0].told())
	}
}
