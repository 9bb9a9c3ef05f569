// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// counters are of all informers together.
type counters struct {
	events    atomic.Int64 // ADDED, MODIFIED and DELETED of watches
	listed    atomic.Int64 // objects of full states
	requests  atomic.Int64
	callbacks atomic.Int64 // visitors' left out
}

// member is one informer, with its connections and handlers.
type member struct {
	name      string
	namespace string
	selector  string
	transport *http.Transport
	informer  *informer.SharedIndexInformer[*Probe]
	handlers  []*checker
	regs      []*informer.Registration
	stop      func() error // set by run; nil before
}

// fleet is all informers.
type fleet struct {
	members []*member
	counters
	lag   histogram
	wrong *problems
}

const (
	slowness = 20 * time.Millisecond
	pageSize = 20
)

// newFleet makes the informers, and starts none.
func newFleet(url string, informers, handlers int, wrong *problems) (*fleet, error) {
	f := &fleet{wrong: wrong}
	for n := range informers {
		m, err := f.newMember(n, url)
		if err != nil {
			return nil, err
		}
		f.members = append(f.members, m)
	}
	for n := range handlers {
		m := f.members[n%informers]
		h := &checker{
			name: fmt.Sprintf("handler %d of %s", len(m.handlers)+1, m.name), calls: &f.callbacks, wrong: wrong,
			live: map[object.Key]*Probe{}, gone: map[object.Key]*Probe{},
		}
		if n < informers {
			h.lag = &f.lag
		} else if n%5 == 0 {
			h.pause = slowness
		}
		if err := m.add(h); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// impatient is the informers' backoff. The default one waits for up to 30 s after failures that
// come more often than every two minutes, as they do here; the soak would then test long pauses.
var impatient = reflector.Backoff{Initial: 100 * time.Millisecond, Max: 2 * time.Second, ResetAfter: 3 * time.Second}

// newMember makes the n-th informer, as the package's documentation says.
func (f *fleet) newMember(n int, url string) (*member, error) {
	m := &member{name: fmt.Sprintf("informer %d", n), namespace: fmt.Sprintf("ns-%d", n%namespaces), transport: &http.Transport{}}
	opts := []informer.Option{informer.WithName(m.name), informer.WithIndexes(byTier), informer.WithTuning(reflector.Tuning{Backoff: impatient})}
	switch n % 5 {
	case 0:
		m.namespace = ""
	case 1:
		m.selector = tierLabel + "=" + gold
	case 2:
		opts = append(opts, informer.WithTuning(reflector.Tuning{DisableWatchList: true, PageSize: pageSize}))
	}
	client, err := source.NewClient(&rest.Config{Host: url, UserAgent: agent, Transport: m.transport})
	if err != nil {
		return nil, err
	}
	src, err := source.New[*Probe](client, probes, source.Options{Namespace: m.namespace, LabelSelector: m.selector})
	if err != nil {
		return nil, err
	}
	m.informer, err = informer.New(counted{src, &f.counters}, opts...)
	return m, err
}

var byTier = store.NewIndex("ByTier", func(p *Probe, keys []string) []string { return append(keys, p.Labels[tierLabel]) })

// share returns the fraction of all changes that the informer gets.
func (m *member) share() float64 {
	share := 1.0
	if m.namespace != "" {
		share /= namespaces
	}
	if m.selector != "" {
		share /= 2 // of the objects are gold
	}
	return share
}

// events is how many watch events one write is, on average.
func (f *fleet) events() (events float64) {
	for _, m := range f.members {
		events += m.share()
	}
	return events
}

func (m *member) add(h *checker) error {
	reg, err := m.informer.AddEventHandler(h, informer.WithHandlerName(h.name))
	m.handlers, m.regs = append(m.handlers, h), append(m.regs, reg)
	return err
}

var errStop = errors.New("the soak stops the informer")

// run runs the informer until stop is called.
func (m *member) run() {
	ctx, cancel := context.WithCancelCause(context.Background())
	var returned error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		returned = m.informer.Run(ctx)
	}()
	m.stop = sync.OnceValue(func() error {
		cancel(errStop)
		if err := within("the end of "+m.name, func() { <-ended }); err != nil {
			return fmt.Errorf("%w: %v", err, m.informer.Status())
		}
		if returned != errStop {
			return fmt.Errorf("%s: Run returned %v", m.name, returned)
		}
		return nil
	})
}

// within runs do. It returns an error if do takes longer than patience; do then goes on in its
// goroutine.
func within(what string, do func()) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
		return nil
	case <-time.After(patience):
		return fmt.Errorf("%s has not come within %v", what, patience)
	}
}

// start starts all informers and waits until they and their handlers have synced.
func (f *fleet) start(ctx context.Context) error {
	for _, m := range f.members {
		m.run()
	}
	for _, m := range f.members {
		if err := m.informer.WaitForCacheSync(ctx); err != nil {
			return err
		}
		for _, reg := range m.regs {
			select {
			case <-reg.Synced():
			case <-ctx.Done():
				return fmt.Errorf("%+v has not synced: %w", reg.Status(), context.Cause(ctx))
			}
		}
	}
	return nil
}

// stop stops all informers, closes their connections and forgets them.
func (f *fleet) stop() {
	var wg sync.WaitGroup
	for _, m := range f.members {
		if m.stop == nil {
			continue
		}
		wg.Go(func() {
			if err := m.stop(); err != nil {
				f.wrong.add("%v", err)
			}
		})
	}
	wg.Wait()
	for _, m := range f.members {
		m.transport.CloseIdleConnections()
	}
	f.members = nil
}

func (f *fleet) relists() (n int64) {
	for _, m := range f.members {
		n += m.informer.Status().Reflector.Relists
	}
	return n
}

// visit adds handlers and removes them when they have synced, at one informer after the other,
// until ctx is done.
func (f *fleet) visit(ctx context.Context) (visits int) {
	members := slices.Clone(f.members)
	var uncounted atomic.Int64
	for ; ctx.Err() == nil; visits++ {
		m := members[visits%len(members)]
		h := &checker{
			name: "visitor of " + m.name, calls: &uncounted, wrong: f.wrong,
			live: map[object.Key]*Probe{}, gone: map[object.Key]*Probe{},
		}
		reg, err := m.informer.AddEventHandler(h)
		if err != nil {
			f.wrong.add("add a visitor: %v", err)
			return visits
		}
		select {
		case <-reg.Synced():
			select {
			case <-time.After(50 * time.Millisecond):
			case <-ctx.Done():
			}
		case <-ctx.Done():
		}
		if err := within("the removal of the "+h.name, reg.Remove); err != nil {
			f.wrong.add("%v", err)
			return visits
		}
	}
	return visits
}

// versions are the UID and the resourceVersion of each object that exists, by its key.
type versions map[object.Key]string

func versionsOf(objects iter.Seq[*Probe]) versions {
	v := versions{}
	for obj := range objects {
		v[object.KeyOf(obj)] = fmt.Sprintf("%s@%s", obj.UID, obj.ResourceVersion)
	}
	return v
}

// differs returns how many objects differ from those of other, and one of them.
func (v versions) differs(other versions) (n int, example string) {
	keys := maps.Clone(v)
	maps.Copy(keys, other)
	for key := range keys {
		if v[key] != other[key] {
			n++
			example = fmt.Sprintf("%s is %q, want %q", key, v[key], other[key])
		}
	}
	return n, example
}

// counted counts what a source hands over.
type counted struct {
	source.Source[*Probe]
	*counters
}

// List implements source.Source.
func (c counted) List(ctx context.Context, opts source.ListOptions, item func(*Probe) error) (source.ListResult, error) {
	c.requests.Add(1)
	return c.Source.List(ctx, opts, func(p *Probe) error {
		c.listed.Add(1)
		return item(p)
	})
}

// Watch implements source.Source.
func (c counted) Watch(ctx context.Context, opts source.WatchOptions, opened func(), event func(source.Event[*Probe]) error) error {
	c.requests.Add(1)
	initial := opts.SendInitialEvents
	return c.Source.Watch(ctx, opts, opened, func(e source.Event[*Probe]) error {
		switch {
		case e.InitialEventsEnd:
			initial = false
		case e.Type == source.Bookmark:
		case initial:
			c.listed.Add(1)
		default:
			c.events.Add(1)
		}
		return event(e)
	})
}
