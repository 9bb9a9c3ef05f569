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

// turn is the behaviour of one watch: it refuses, or opens, brings those of its events that are
// after the requested version, and stays open, or ends after a time.
type turn struct {
	refuse error
	deaf   bool // does not answer
	events []source.Event[thing]
	raw    bool // brings all of them
	ends   bool
	after  time.Duration
	err    error // that it ends with
}

// world is a Source whose n-th watch takes the n-th turn; later ones take the last turn again. It
// notes its requests.
type world struct {
	turns   []turn
	asked   []string
	times   []time.Time
	timeout time.Duration
}

func (w *world) String() string { return "things.test.io/v1" }

func (w *world) List(context.Context, source.ListOptions, func(thing) error) (source.ListResult, error) {
	panic("nothing in this package lists")
}

func (w *world) Watch(ctx context.Context, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
	w.asked = append(w.asked, opts.ResourceVersion)
	w.times = append(w.times, time.Now())
	w.timeout = opts.Timeout
	if opts.SendInitialEvents {
		panic("nothing in this package wants the existing objects")
	}
	t := w.turns[min(len(w.asked), len(w.turns))-1]
	switch {
	case t.refuse != nil:
		return t.refuse
	case t.deaf:
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

// gaps returns the times between the watches, and before the first one.
func (w *world) gaps(since time.Time) []time.Duration {
	var gaps []time.Duration
	for _, t := range w.times {
		gaps = append(gaps, t.Sub(since))
		since = t
	}
	return gaps
}

// steady has no jitter.
var steady = watch.Options{Backoff: reflector.Backoff{Jitter: -1}}

// outcome is the result of a Retry.
type outcome struct {
	*world
	seen   string // names of the events
	failed []error
	start  time.Time
	lasted time.Duration
	err    error
}

// retry runs Retry after a version for a time, in a bubble.
func retry(t *testing.T, from string, lasts time.Duration, opts watch.Options, turns ...turn) outcome {
	t.Helper()
	var o outcome
	synctest.Test(t, func(t *testing.T) {
		o = outcome{world: &world{turns: turns}, start: time.Now()}
		opts.OnError = func(err error) { o.failed = append(o.failed, err) }
		ctx, cancel := context.WithTimeout(t.Context(), lasts)
		defer cancel()
		var seen []string
		o.err = watch.Retry(ctx, o.world, from, opts, func(e source.Event[thing]) error {
			seen = append(seen, fmt.Sprint(e.Type, " ", e.ResourceVersion))
			return nil
		})
		o.lasted, o.seen = time.Since(o.start), strings.Join(seen, ", ")
	})
	return o
}
