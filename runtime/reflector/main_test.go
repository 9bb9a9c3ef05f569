// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"context"
	"fmt"
	"net/http"
	"slices"
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

func bookmark(version string, end bool) source.Event[thing] {
	return source.Event[thing]{Type: source.Bookmark, ResourceVersion: version, InitialEventsEnd: end}
}

// fake is a Source whose answers depend on the number of the request. It notes each request and its
// time.
type fake struct {
	list  func(n int, opts source.ListOptions, item func(thing) error) (source.ListResult, error)
	watch func(ctx context.Context, n int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error

	mu             sync.Mutex
	lists, watches int
	log            []string
	times          []time.Time
}

// watchFunc is the type of fake.watch.
type watchFunc = func(context.Context, int, source.WatchOptions, func(), func(source.Event[thing]) error) error

// quiet is a watch without events.
func quiet(ctx context.Context, _ int, _ source.WatchOptions, opened func(), _ func(source.Event[thing]) error) error {
	return stayOpen(ctx, opened)
}

func (f *fake) note(format string, args ...any) {
	f.log = append(f.log, fmt.Sprintf(format, args...))
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
	f.note("%s rv=%s%s limit=%d token=%s%s", verb, opts.ResourceVersion, opts.ResourceVersionMatch, opts.Limit, opts.Continue, anewText(opts.NoReuse))
	f.mu.Unlock()
	return f.list(n, opts, item)
}

func (f *fake) Watch(ctx context.Context, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
	f.mu.Lock()
	f.watches++
	n := f.watches
	name := "watch"
	if opts.SendInitialEvents {
		name = "watch-list"
	}
	f.note("%s rv=%s%s", name, opts.ResourceVersion, anewText(opts.NoReuse))
	f.mu.Unlock()
	return f.watch(ctx, n, opts, opened, event)
}

// anewText shows the option NoReuse in the text of a request.
func anewText(set bool) string {
	if set {
		return " anew"
	}
	return ""
}

// requests returns the requests so far.
func (f *fake) requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.log)
}

// gaps returns the times before the first request and between requests.
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

// stayOpen is an open watch without events.
func stayOpen(ctx context.Context, opened func()) error {
	opened()
	<-ctx.Done()
	return context.Cause(ctx)
}

// sleep returns when d has passed or ctx is done.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// scriptedWatch is the behaviour of one watch: it is refused; or it opens, brings events, and stays
// open or ends after a time.
type scriptedWatch struct {
	refuse error
	events []source.Event[thing]
	ends   bool
	after  time.Duration
	err    error // of the end
}

// script gives the n-th watch the n-th behaviour. Further watches stay open without events.
func script(all ...scriptedWatch) watchFunc {
	return func(ctx context.Context, n int, _ source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
		var w scriptedWatch
		if n <= len(all) {
			w = all[n-1]
		}
		if w.refuse != nil {
			return w.refuse
		}
		opened()
		if err := send(event, w.events...); err != nil {
			return err
		}
		if w.ends {
			sleep(ctx, w.after)
			return w.err
		}
		return stayOpen(ctx, opened)
	}
}

// send passes events to event until it returns an error.
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

// logBuffer is the output of a logger.
type logBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logBuffer) String() string {
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
	sink   *recorder
	errs   []error // to be read after pass
	states []State
	cancel context.CancelFunc
	done   chan error
}

// bubble runs test in a synctest bubble, where time passes only when all goroutines wait. So the
// state after synctest.Wait or a sleep does not depend on the load of the machine.
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
		g := &rig{t: t, start: time.Now(), sink: &recorder{}, done: make(chan error, 1)}
		if config.Sink == nil {
			config.Sink = g.sink
		}
		config.OnError = func(err error) { g.errs = append(g.errs, err) }
		config.OnState = func(s State) {
			if now := g.Status().State; now != s {
				t.Errorf("Status().State = %v in OnState(%v)", now, s)
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
			t.Errorf("Run() = %v", err)
		}
		if d := time.Since(before); d != 0 {
			t.Errorf("Run returned %v after the cancellation, want at once", d)
		}
		if s := r.Status(); s.State != StateStopped {
			t.Errorf("Status() = %v after Run, want stopped", s)
		}
	})
}

// rerun ends the run and begins another one.
func (g *rig) rerun() {
	g.t.Helper()
	g.cancel()
	if err := <-g.done; err != nil {
		g.t.Errorf("Run() = %v", err)
	}
	ctx, cancel := context.WithCancel(silent())
	g.cancel = cancel
	go func() { g.done <- g.Run(ctx) }()
	synctest.Wait()
}

// silent returns a context whose logger drops everything.
func silent() context.Context { return klog.NewContext(context.Background(), klog.Logger{}) }

// pass lets time pass, and waits until no goroutine can run.
func (g *rig) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (g *rig) wantRequests(want ...string) {
	g.t.Helper()
	if got := strings.Join(g.src.requests(), "\n"); got != strings.Join(want, "\n") {
		g.t.Errorf("requests\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func (g *rig) wantSinkCalls(want string) {
	g.t.Helper()
	if got := g.sink.String(); got != want {
		g.t.Errorf("sink calls %s\nwant       %s", got, want)
	}
}

func (g *rig) wantContent(want string) {
	g.t.Helper()
	if got := g.sink.content(); got != want {
		g.t.Errorf("the sink has %q, want %q", got, want)
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
