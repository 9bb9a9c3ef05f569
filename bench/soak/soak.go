// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
	"weak"
)

// soak is one run of the program.
type soak struct {
	options
	out     io.Writer
	wrong   *problems
	cluster *cluster
	fleet   *fleet
	load    *load

	made        []int         // faults, by kind; written by disturb
	outage      time.Duration // in which there was no server; written by disturb
	faultsSince atomic.Int64  // since the last line of the table
	all         lags
	visits      int
	settling    time.Duration // written by verify
	// written by report: what the server could not do, which is not the informers' fault
	slow error
}

// patience is how long anything but the soak itself may take. What takes longer is given up, and
// named in the verdict.
const patience = 2 * time.Minute

// overtime is how long after the end, and a twentieth of the duration more, writers go on if they
// are behind.
const overtime = 5 * time.Second

// rows is how many lines the table has.
const rows = 18

// do runs everything, in a cluster of its own, and records failed checks in wrong. It returns the
// informers when they and the cluster have ended.
func (s *soak) do(ctx context.Context, dir string) (ended []former, err error) {
	if s.cluster, err = startCluster(ctx, dir); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.cluster.stop()) }()
	return s.run(ctx)
}

func (s *soak) run(ctx context.Context) (ended []former, err error) {
	if s.fleet, err = newFleet(s.cluster.proxy, s.informers, s.handlers, s.wrong); err != nil {
		return nil, err
	}
	for _, m := range s.fleet.members {
		ended = append(ended, former{m.name, weak.Make(m.informer)})
	}
	defer s.fleet.stop()
	s.load = &load{cluster: s.cluster, rate: s.rate / s.fleet.events()}
	fmt.Fprintf(s.out, "%s %s/%s, %d CPUs; %d informers, %d handlers, %.0f events a second = %.0f writes × %.1f informers; a fault every %v; seed %d\n\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), s.informers, s.handlers, s.rate, s.load.rate, s.fleet.events(), s.options.faults, s.seed)

	syncing, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := s.fill(syncing); err != nil {
		return nil, err
	}
	if err := s.fleet.start(syncing); err != nil {
		return nil, err
	}
	if err := s.soak(ctx); err != nil {
		return nil, err
	}
	if err := context.Cause(ctx); err != nil { // an interrupt
		return nil, err
	}
	return ended, s.verify(ctx)
}

// fill makes the objects.
func (s *soak) fill(ctx context.Context) error {
	for n := range writers * perWriter {
		if err := s.load.attempt(ctx, 2, n, []string{gold, tin}[n/namespaces%2]); err != nil {
			return fmt.Errorf("make objects: %w", err)
		}
	}
	return nil
}

// soak is the time in which everything happens.
func (s *soak) soak(ctx context.Context) error {
	duration := time.Duration(s.minutes * float64(time.Minute))
	writing, stop := context.WithTimeout(ctx, duration+overtime+duration/20)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, duration)
	defer cancel()
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { s.load.run(writing, duration, s.seed) })
	wg.Go(func() { s.visits = s.fleet.visit(ctx) })
	var failed error
	wg.Go(func() {
		if err := s.disturb(ctx, s.options.faults, rand.New(rand.NewPCG(s.seed, 1))); err != nil {
			failed = err
			cancel()
			stop()
		}
	})
	s.table(ctx, duration)
	wg.Wait()
	return failed
}

// table prints a line now and then.
func (s *soak) table(ctx context.Context, duration time.Duration) {
	fmt.Fprintf(s.out, "%7s %9s %9s %9s │ %8s %8s %8s %8s │ %10s %9s │ %8s %7s %6s\n",
		"", "writes/s", "events/s", "calls/s", "p50", "p95", "p99", "max", "goroutines", "live heap", "requests", "relists", "faults")
	start := time.Now()
	var written, events, calls int64
	last := start
	ticker := time.NewTicker(max(duration/rows, time.Second))
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			s.all.merge(s.fleet.lag.take())
			return
		}
		now := time.Now()
		seconds := now.Sub(last).Seconds()
		w, e, c := s.load.written.Load(), s.fleet.counters.events.Load(), s.fleet.callbacks.Load()
		lag, use := s.fleet.lag.take(), measureLive()
		s.all.merge(lag)
		fmt.Fprintf(s.out, "%6.0fs %9.0f %9.0f %9.0f │ %8s %8s %8s %8s │ %10d %9s │ %8d %7d %6d\n", now.Sub(start).Seconds(),
			float64(w-written)/seconds, float64(e-events)/seconds, float64(c-calls)/seconds,
			short(lag.percentile(50)), short(lag.percentile(95)), short(lag.percentile(99)), short(lag.longest),
			use.goroutines, megabytes(use.heap), s.fleet.requests.Load(), s.fleet.relists(), s.faultsSince.Swap(0))
		written, events, calls, last = w, e, c, now
	}
}

// usage is what the process has.
type usage struct {
	goroutines int
	heap       uint64
}

// measure counts what a collection leaves.
func measure() usage {
	runtime.GC() // twice: finalizers and pools let go of things in between
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{runtime.NumGoroutine(), m.HeapAlloc}
}

// measureLive returns the heap after the last collection; it starts none.
func measureLive() usage {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return usage{runtime.NumGoroutine(), sample[0].Value.Uint64()}
}

func short(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= 10*time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}

func megabytes(bytes uint64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }
