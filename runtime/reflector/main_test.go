// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/source"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type thing = *metav1.PartialObjectMetadata

func newThing(name, version string) thing {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: version}}
}

func ev(typ source.EventType, name, version string) source.Event[thing] {
	return source.Event[thing]{Type: typ, Object: newThing(name, version), ResourceVersion: version}
}

func mark(version string, end bool) source.Event[thing] {
	return source.Event[thing]{Type: source.Bookmark, ResourceVersion: version, InitialEventsEnd: end}
}

// fake is a Source whose answers are functions of how often it has been asked. It notes every call
// and its time.
type fake struct {
	list  func(n int, opts source.ListOptions, item func(thing) error) (source.ListResult, error)
	watch func(ctx context.Context, n int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error

	mu             sync.Mutex
	lists, watches int
	calls          []string
	times          []time.Time
}

// watchFunc is the type of fake.watch.
type watchFunc = func(context.Context, int, source.WatchOptions, func(), func(source.Event[thing]) error) error

// quiet is a watch that opens and brings nothing.
func quiet(ctx context.Context, _ int, _ source.WatchOptions, opened func(), _ func(source.Event[thing]) error) error {
	return hold(ctx, opened)
}

func (f *fake) note(format string, args ...any) {
	f.calls = append(f.calls, fmt.Sprintf(format, args...))
	f.times = append(f.times, time.Now())
}

func (f *fake) List(ctx context.Context, opts source.ListOptions, item func(thing) error) (source.ListResult, error) {
	f.mu.Lock()
	f.lists++
	n := f.lists
	verb := "list"
	if opts.VersionOnly {
		verb = "probe"
	}
	f.note("%s rv=%s%s limit=%d token=%s%s", verb, opts.ResourceVersion, opts.ResourceVersionMatch, opts.Limit, opts.Continue, anew(opts.Anew))
	f.mu.Unlock()
	return f.list(n, opts, item)
}

func (f *fake) Watch(ctx context.Context, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
	f.mu.Lock()
	f.watches++
	n := f.watches
	name := "watch"
	if opts.SendInitialEvents {
		name = "stream"
	}
	f.note("%s rv=%s%s", name, opts.ResourceVersion, anew(opts.Anew))
	f.mu.Unlock()
	return f.watch(ctx, n, opts, opened, event)
}

// anew is how the text of a call shows the option Anew.
func anew(set bool) string {
	if set {
		return " anew"
	}
	return ""
}

// asked returns the calls so far.
func (f *fake) asked() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.calls...)
}

// gaps returns the times between the calls, and before the first one.
func (f *fake) gaps(since time.Time) []time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	var gaps []time.Duration
	for _, t := range f.times {
		gaps = append(gaps, t.Sub(since))
		since = t
	}
	return gaps
}

// hold is an open watch that brings nothing.
func hold(ctx context.Context, opened func()) error {
	opened()
	<-ctx.Done()
	return context.Cause(ctx)
}

// sleep lasts until d has passed or ctx is done.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// turn is the behaviour of one watch: it refuses, or opens, brings events and stays open, or ends
// after a time.
type turn struct {
	refuse error
	events []source.Event[thing]
	ends   bool
	after  time.Duration
	err    error // that it ends with
}

// turns makes the n-th watch take the n-th turn, and the ones after the last bring nothing.
func turns(all ...turn) watchFunc {
	return func(ctx context.Context, n int, _ source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
		var t turn
		if n <= len(all) {
			t = all[n-1]
		}
		if t.refuse != nil {
			return t.refuse
		}
		opened()
		if err := send(event, t.events...); err != nil {
			return err
		}
		if t.ends {
			sleep(ctx, t.after)
			return t.err
		}
		return hold(ctx, opened)
	}
}

// send passes events on and stops at the first error.
func send(event func(source.Event[thing]) error, events ...source.Event[thing]) error {
	for _, e := range events {
		if err := event(e); err != nil {
			return err
		}
	}
	return nil
}

// listOf answers with one page.
func listOf(version string, items ...thing) func(int, source.ListOptions, func(thing) error) (source.ListResult, error) {
	return func(_ int, _ source.ListOptions, item func(thing) error) (source.ListResult, error) {
		for _, obj := range items {
			if err := item(obj); err != nil {
				return source.ListResult{}, err
			}
		}
		return source.ListResult{ResourceVersion: version}, nil
	}
}

// logbook keeps what is logged.
type logbook struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// rig is a running reflector in a bubble.
type rig struct {
	*Reflector[thing]
	t      *testing.T
	start  time.Time
	src    *fake // nil over HTTP
	sink   *record
	errs   []error // to be read after pass
	states []State
	cancel context.CancelFunc
	done   chan error
}

// bubble runs test in a synctest bubble, where time passes only when all goroutines wait: so the
// state after synctest.Wait or a sleep does not depend on how busy the machine is.
func bubble(t *testing.T, src *fake, config Config[thing], test func(*rig)) {
	t.Helper()
	config.Source = src
	config.Name = "things"
	inBubble(t, config, func(g *rig) {
		g.src = src
		test(g)
	})
}

func inBubble(t *testing.T, config Config[thing], test func(*rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := &rig{t: t, start: time.Now(), sink: &record{}, done: make(chan error, 1)}
		if config.Sink == nil {
			config.Sink = g.sink
		}
		config.OnError = func(err error) { g.errs = append(g.errs, err) }
		config.OnState = func(s State) {
			if now := g.Status().State; now != s {
				t.Errorf("Status has the state %v when OnState is called with %v", now, s)
			}
			g.states = append(g.states, s)
		}
		r, err := New(config)
		if err != nil {
			t.Fatal(err)
		}
		g.Reflector = r
		ctx, cancel := context.WithCancel(silent())
		defer cancel()
		g.cancel = cancel
		go func() { g.done <- r.Run(ctx) }()
		synctest.Wait()
		test(g)
		before := time.Now()
		g.cancel()
		if err := <-g.done; err != nil {
			t.Errorf("Run: %v", err)
		}
		if d := time.Since(before); d != 0 {
			t.Errorf("Run ended %v after it was canceled", d)
		}
		if s := r.Status(); s.State != StateStopped {
			t.Errorf("after Run: %v", s)
		}
	})
}

// again ends the run and begins another one.
func (g *rig) again() {
	g.t.Helper()
	g.cancel()
	if err := <-g.done; err != nil {
		g.t.Errorf("Run: %v", err)
	}
	ctx, cancel := context.WithCancel(silent())
	g.cancel = cancel
	go func() { g.done <- g.Run(ctx) }()
	synctest.Wait()
}

// silent is a context whose logger drops everything.
func silent() context.Context { return klog.NewContext(context.Background(), klog.Logger{}) }

// pass lets time pass, and waits until no goroutine can run.
func (g *rig) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (g *rig) wantCalls(want ...string) {
	g.t.Helper()
	if got := strings.Join(g.src.asked(), "\n"); got != strings.Join(want, "\n") {
		g.t.Errorf("asked\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func (g *rig) wantTold(want string) {
	g.t.Helper()
	if got := g.sink.String(); got != want {
		g.t.Errorf("told %s\nwant %s", got, want)
	}
}

func (g *rig) wantContent(want string) {
	g.t.Helper()
	if got := g.sink.content(); got != want {
		g.t.Errorf("kept %q, want %q", got, want)
	}
}

func statusError(code int, retryAfter int) error {
	return apierrors.NewGenericServerResponse(code, "list", thingResource, "", "because", retryAfter, true)
}

var (
	thingResource = metav1.SchemeGroupVersion.WithResource("things").GroupResource()
	errGone       = apierrors.NewResourceExpired("too old")
	errTooNew     = apierrors.NewTimeoutError("Too large resource version: 9, current: 5", 1)
	errInvalid    = statusError(http.StatusUnprocessableEntity, 0)
	errBusy       = statusError(http.StatusServiceUnavailable, 0)
)
