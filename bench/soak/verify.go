// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"
	"weak"

	"go.uber.org/goleak"

	"github.com/informer-gen/informer-gen/runtime/informer"
)

// verify checks, after all writes, that all stores and handlers agree with the server. It waits for
// that, up to patience, and then records those that don't. It polls, because no event reports it.
// It polls the server, too, because a write whose answer was lost may be carried out late.
func (s *soak) verify(ctx context.Context) error {
	began := time.Now()
	defer func() { s.settling = time.Since(began) }()
	settled, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	unsettled := slices.Clone(s.fleet.members)
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		var missing []string
		var err error
		unsettled = slices.DeleteFunc(unsettled, func(m *member) bool {
			want, e := s.listed(settled, m)
			if e != nil {
				err = e
				return false
			}
			differences := m.differences(want)
			missing = append(missing, differences...)
			return len(differences) == 0
		})
		if len(unsettled) == 0 {
			break
		}
		select {
		case <-time.After(pause):
			continue
		case <-settled.Done():
		}
		for _, what := range missing {
			s.wrong.add("after %v, %s", patience, what)
		}
		if err != nil {
			s.wrong.add("after %v, %v", patience, err)
		}
		if err := context.Cause(ctx); err != nil { // an interrupt
			return err
		}
		break
	}
	for _, m := range s.fleet.members {
		s.indexed(m)
	}
	return nil
}

// listed lists the objects of the server, by net/http and not by the code under test.
func (s *soak) listed(ctx context.Context, m *member) (versions, error) {
	text, err := s.cluster.do(ctx, http.MethodGet, collectionPath(m.namespace)+"?labelSelector="+url.QueryEscape(m.selector), "", nil)
	if err != nil {
		return nil, fmt.Errorf("list what %s should have: %w", m.name, err)
	}
	var list struct {
		Items []*Probe `json:"items"`
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, fmt.Errorf("list what %s should have: %w", m.name, err)
	}
	return versionsOf(slices.Values(list.Items)), nil
}

// differences describes how an informer differs from the server.
func (m *member) differences(want versions) (all []string) {
	if n, example := versionsOf(m.informer.Store().Snapshot().All()).differs(want); n > 0 {
		all = append(all, fmt.Sprintf("%s's store differs from the server in %d of %d objects: %s; %v", m.name, n, len(want), example, m.informer.Status()))
	}
	for n, h := range m.handlers {
		if d, example := h.knows().differs(want); d > 0 {
			all = append(all, fmt.Sprintf("%s differs from the server in %d of %d objects: %s; %+v", h.name, d, len(want), example, m.regs[n].Status()))
		} else if !m.regs[n].HasSynced() {
			all = append(all, fmt.Sprintf("%s has not synced: %+v", h.name, m.regs[n].Status()))
		}
	}
	return all
}

func (s *soak) indexed(m *member) {
	snapshot := m.informer.Store().Snapshot()
	found := 0
	for tier := range byTier.Keys(snapshot) {
		for p := range byTier.Lookup(snapshot, tier) {
			if p.Labels[tierLabel] != tier {
				s.wrong.add("%s: the index has %s under %s, which is %s", m.name, id(p), tier, p.Labels[tierLabel])
			}
			found++
		}
	}
	if found != snapshot.Len() {
		s.wrong.add("%s: the index has %d objects of %d", m.name, found, snapshot.Len())
	}
}

// leeway is how much larger the heap may be than before: what net/http, encoding/json and reflect
// keep for the process.
const leeway = 3 << 20

// former is an informer that has ended and should be unreachable.
type former struct {
	name     string
	informer weak.Pointer[informer.SharedIndexInformer[*Probe]]
}

// released checks that no informer is reachable, and that goroutines and heap are back to where
// they were.
func (s *soak) released(before usage, ignored goleak.Option, informers []former) {
	s.fleet, s.load, s.cluster = nil, nil, nil
	var after usage
	var left []string
	for end := time.Now().Add(patience / 6); ; {
		after, left = measure(), nil
		if err := goleak.Find(ignored); err != nil {
			left = append(left, err.Error())
		}
		for _, f := range informers {
			if f.informer.Value() != nil {
				left = append(left, f.name+" is still reachable")
			}
		}
		if after.heap > before.heap+leeway {
			left = append(left, fmt.Sprintf("%s of heap are left, %s before", megabytes(after.heap), megabytes(before.heap)))
		}
		if len(left) == 0 || time.Now().After(end) {
			break
		}
		// connections that were closed end their goroutines in their own time
		time.Sleep(50 * time.Millisecond)
	}
	fmt.Fprintf(s.out, "released: goroutines %d → %d, heap %s → %s\n", before.goroutines, after.goroutines, megabytes(before.heap), megabytes(after.heap))
	for _, what := range left {
		s.wrong.add("%s", what)
	}
}

// report prints the sums.
func (s *soak) report() {
	seconds := s.minutes*60 + max(0, s.load.late.Seconds())
	written, events := float64(s.load.written.Load())/seconds, float64(s.fleet.counters.events.Load())/seconds
	fmt.Fprintf(s.out, "\nwrites   %.0f/s of %.0f/s wanted, the last one %s after the end; %d attempts failed\n",
		written, s.load.rate, short(max(0, s.load.late)), s.load.retried.Load())
	fmt.Fprintf(s.out, "events   %.0f/s read from watches; %d objects in full states; %d requests\n",
		events, s.fleet.listed.Load(), s.fleet.requests.Load())
	fmt.Fprintf(s.out, "handlers %.0f calls/s; %d handlers came and went\n", float64(s.fleet.callbacks.Load())/seconds, s.visits)
	fmt.Fprintf(s.out, "lag      p50 %s, p95 %s, p99 %s, max %s, of %d events\n",
		short(s.all.percentile(50)), short(s.all.percentile(95)), short(s.all.percentile(99)), short(s.all.longest), s.all.total)
	for n, f := range faults {
		if s.made[n] > 0 {
			fmt.Fprintf(s.out, "fault    %d × %s\n", s.made[n], f.name)
		}
	}
	fmt.Fprintf(s.out, "settled  %s after the last write\n", short(s.settling))
	// Writers that are behind because there was no server for a while have that much time more.
	allowed := s.outage + time.Second + time.Duration(s.minutes*float64(time.Minute)/100)
	if made := s.load.written.Load(); made < s.load.due || s.load.late > allowed {
		s.slow = fmt.Errorf("%w: %d of %d writes, the last one %s after the end, in spite of %s without a server; choose a lower --rate than %.0f",
			errTooSlow, made, s.load.due, short(s.load.late), short(s.outage), s.rate)
	}
}

// errTooSlow means that the server was too slow to put the wanted load on the informers.
var errTooSlow = errors.New("the server was too slow")

// verdict returns an error if anything is wrong. It wraps errTooSlow if nothing else is.
func (s *soak) verdict() error {
	if err := s.wrong.err(); err != nil {
		return err
	}
	fmt.Fprintln(s.out, "every store and every handler agrees with the server, and nothing is left behind")
	return s.slow
}
