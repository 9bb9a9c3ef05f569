// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// fault is one thing that goes wrong.
type fault struct {
	name string
	make func(ctx context.Context, s *soak, rng *rand.Rand) error
}

var faults = []fault{
	{"watches ended", func(ctx context.Context, s *soak, _ *rand.Rand) error {
		_, err := s.cluster.child.EndWatches(ctx)
		return err
	}},
	{"compaction", func(ctx context.Context, s *soak, _ *rand.Rand) error {
		_, err := s.cluster.child.Compact(ctx)
		return err
	}},
	{"versions expired", func(ctx context.Context, s *soak, _ *rand.Rand) error { return s.cluster.child.ExpireWatches(ctx) }},
	{"connections reset", func(ctx context.Context, s *soak, _ *rand.Rand) error {
		_, err := s.cluster.order(ctx, "reset", "")
		return err
	}},
	{"silence", func(ctx context.Context, s *soak, _ *rand.Rand) error {
		_, err := s.cluster.order(ctx, "silence", "for=2s")
		return err
	}},
	{"requests refused", func(ctx context.Context, s *soak, rng *rand.Rand) error {
		status := []int{429, 500, 503}[rng.IntN(3)]
		if _, err := s.cluster.order(ctx, "refuse", fmt.Sprintf("status=%d&for=1s", status)); err != nil {
			return err
		}
		_, err := s.cluster.child.EndWatches(ctx)
		return err
	}},
	{"informer stopped and run again", func(_ context.Context, s *soak, rng *rand.Rand) error {
		m := s.fleet.members[rng.IntN(len(s.fleet.members))]
		if err := m.stop(); err != nil {
			return err
		}
		m.run()
		return nil
	}},
	{"server killed", func(ctx context.Context, s *soak, _ *rand.Rand) error {
		killed := time.Now()
		defer func() { s.outage += time.Since(killed) }()
		return s.cluster.restart(ctx)
	}},
}

// disturb makes a fault every now and then, until ctx is done. Each kind has its turn before one
// comes again.
func (s *soak) disturb(ctx context.Context, every time.Duration, rng *rand.Rand) error {
	s.made = make([]int, len(faults))
	if every == 0 {
		return nil
	}
	var order []int
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			return nil
		}
		if len(order) == 0 {
			order = rng.Perm(len(faults))
		}
		f := faults[order[0]]
		// Not ctx: a fault that has begun is completed; otherwise the child's state is unknown.
		making, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		err := f.make(making, s, rng)
		cancel()
		if err != nil {
			return fmt.Errorf("make the fault %q: %w", f.name, err)
		}
		s.made[order[0]]++
		s.faultsSince.Add(1)
		order = order[1:]
	}
}
