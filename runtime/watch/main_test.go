// SPDX-License-Identifier: Apache-2.0

package watch_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/watch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var thingResource = metav1.SchemeGroupVersion.WithResource("things").GroupResource()

type thing = *metav1.PartialObjectMetadata

// ev returns an event of an object whose name is its version.
func ev(typ source.EventType, version int) source.Event[thing] {
	rv := strconv.Itoa(version)
	e := source.Event[thing]{Type: typ, ResourceVersion: rv}
	if typ != source.Bookmark {
		e.Object = &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "o" + rv, ResourceVersion: rv}}
	}
	return e
}

func added(versions ...int) []source.Event[thing] {
	var all []source.Event[thing]
	for _, version := range versions {
		all = append(all, ev(source.Added, version))
	}
	return all
}

// scriptedWatch is the behaviour of one watch: it is refused; or it opens, brings its events after
// the requested version, and stays open or ends after a time.
type scriptedWatch struct {
	refuse error
	silent bool // does not answer
	events []source.Event[thing]
	raw    bool // brings all events
	ends   bool
	after  time.Duration
	err    error // of the end
}

// fakeSource is a Source whose n-th watch is the n-th of watches; the last one repeats. It notes
// the versions and times of the requests.
type fakeSource struct {
	watches  []scriptedWatch
	versions []string
	times    []time.Time
	timeout  time.Duration
}

func (w *fakeSource) String() string { return "things.test.io/v1" }

func (w *fakeSource) List(context.Context, source.ListOptions, func(thing) error) (source.ListResult, error) {
	panic("unexpected list")
}

func (w *fakeSource) Watch(ctx context.Context, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
	w.versions = append(w.versions, opts.ResourceVersion)
	w.times = append(w.times, time.Now())
	w.timeout = opts.Timeout
	if opts.SendInitialEvents {
		panic("unexpected watch-list")
	}
	t := w.watches[min(len(w.versions), len(w.watches))-1]
	switch {
	case t.refuse != nil:
		return t.refuse
	case t.silent:
		<-ctx.Done()
		return ctx.Err() // not the cause
	}
	opened()
	from, _ := strconv.Atoi(opts.ResourceVersion)
	for _, e := range t.events {
		if version, _ := strconv.Atoi(e.ResourceVersion); version <= from && !t.raw {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := event(e); err != nil {
			return err
		}
	}
	if !t.ends {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	select {
	case <-time.After(t.after):
	case <-ctx.Done():
	}
	return t.err
}

// gaps returns the times before the first watch and between watches.
func (w *fakeSource) gaps(since time.Time) []time.Duration {
	var gaps []time.Duration
	for _, t := range w.times {
		gaps = append(gaps, t.Sub(since))
		since = t
	}
	return gaps
}

// steady are options without jitter.
var steady = watch.Options{Backoff: reflector.Backoff{Jitter: -1}}

// outcome is the result of a Retry.
type outcome struct {
	*fakeSource
	seen     string // names of the events
	failed   []error
	start    time.Time
	duration time.Duration
	err      error
}

// retry runs Retry from a version in a bubble, until a timeout.
func retry(t *testing.T, from string, timeout time.Duration, opts watch.Options, watches ...scriptedWatch) outcome {
	t.Helper()
	var o outcome
	synctest.Test(t, func(t *testing.T) {
		o = outcome{fakeSource: &fakeSource{watches: watches}, start: time.Now()}
		opts.OnError = func(err error) { o.failed = append(o.failed, err) }
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		defer cancel()
		var seen []string
		o.err = watch.Retry(ctx, o.fakeSource, from, opts, func(e source.Event[thing]) error {
			seen = append(seen, fmt.Sprint(e.Type, " ", e.ResourceVersion))
			return nil
		})
		o.duration, o.seen = time.Since(o.start), strings.Join(seen, ", ")
	})
	return o
}
