// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// verify checks, after all writes, that everyone agrees with the server.
func (s *soak) verify(ctx context.Context) error {
	settled := time.Now().Add(patience)
	for _, m := range s.fleet.members {
		want, err := s.listed(ctx, m)
		if err != nil {
			return err
		}
		s.agrees(settled, m.name+"'s store", want, func() state { return stateOf(m.informer.Store().Snapshot().All()) })
		for n, h := range m.handlers {
			s.agrees(settled, h.name, want, h.knows)
			if !m.regs[n].HasSynced() {
				s.wrong.add("%s has not synced", h.name)
			}
		}
		s.indexed(m)
	}
	return nil
}

// listed asks the server, not by way of ours.
func (s *soak) listed(ctx context.Context, m *member) (state, error) {
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
	return stateOf(slices.Values(list.Items)), nil
}

// agrees waits until what has is equal to want, at most until everything must have settled. Nobody reports that, so it asks.
func (s *soak) agrees(settled time.Time, who string, want state, has func() state) {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for !maps.Equal(has(), want) {
		if time.Now().After(settled) {
			n, example := has().differs(want)
			s.wrong.add("%s differs from the server in %d of %d objects: %s", who, n, len(want), example)
			return
		}
		<-ticker.C
	}
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

// leeway is what the heap may have more than before: what net/http, encoding/json and reflect keep for the process.
const leeway = 3 << 20

// released checks that nothing of the informers is left.
func (s *soak) released(before usage) {
	s.report()
	s.fleet, s.load = nil, nil
	s.cluster.http.CloseIdleConnections()
	after := measure()
	for end := time.Now().Add(patience / 6); time.Now().Before(end) && (after.goroutines > before.goroutines || after.heap > before.heap+leeway); {
		time.Sleep(50 * time.Millisecond) // connections that were closed end their goroutines in their own time
		after = measure()
	}
	fmt.Fprintf(s.out, "released: goroutines %d → %d, heap %s → %s\n", before.goroutines, after.goroutines, megabytes(before.heap), megabytes(after.heap))
	if after.goroutines > before.goroutines {
		s.wrong.add("%d goroutines are left, %d before", after.goroutines, before.goroutines)
	}
	if after.heap > before.heap+leeway {
		s.wrong.add("%s of heap are left, %s before", megabytes(after.heap), megabytes(before.heap))
	}
}

// enoughWrites is the part of the wanted writes that must have been made. It is not 1 because the first and last ones are not at
// the very beginning and end.
const enoughWrites = 0.99

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
	if written < enoughWrites*s.load.rate {
		s.wrong.add("%.0f writes/s were made of %.0f/s: the machine is too slow for --rate %.0f", written, s.load.rate, s.rate)
	}
}

// verdict is an error if anything is wrong.
func (s *soak) verdict() error {
	s.wrong.mu.Lock()
	defer s.wrong.mu.Unlock()
	if len(s.wrong.list) == 0 {
		fmt.Fprintln(s.out, "every store and every handler agrees with the server, and nothing is left behind")
		return nil
	}
	errs := make([]error, 0, len(s.wrong.list)+1)
	for _, what := range s.wrong.list {
		errs = append(errs, errors.New(what))
	}
	if s.wrong.more > 0 {
		errs = append(errs, fmt.Errorf("and %d more", s.wrong.more))
	}
	return errors.Join(errs...)
}
