// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// Ring divides the objects over several processes. Package shard implements it.
type Ring interface {
	// Run takes part in the ring until ctx is done, and calls work, once. When ctx is done, Run
	// hands this process's objects over to others while work goes on. Then, or when the process is
	// out of the ring, work's context is done. Run lets no other process work on its objects
	// before work has returned nil, or has stopped working on them.
	Run(ctx context.Context, work func(ctx context.Context) error) error
	// Fence returns a copy of config whose requests leave the process only while it may work on
	// the object of the reconcile that sends them.
	Fence(config *rest.Config) *rest.Config
	// Name names the ring in metrics: it is the Leases'.
	Name() string
	// Status returns the ring's state.
	Status() partition.Status
	// Healthy returns an error that names the parts of the ring that nobody works on, if that has
	// lasted too long.
	Healthy() error
}

// participate runs the led controllers while the process leads, and the sharded ones while it takes
// part in the ring. It returns when ctx is done, or one of the two has ended.
func (m *Manager) participate(ctx context.Context) error {
	var parts []func(context.Context) error
	if m.options.Election != nil {
		parts = append(parts, m.elect)
	}
	if m.options.Ring != nil {
		parts = append(parts, m.shard)
	}
	if parts == nil {
		<-ctx.Done()
		return nil
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	results := make(chan error, len(parts))
	for _, part := range parts {
		go func() { results <- part(ctx) }()
	}
	var errs []error
	for range parts {
		err := <-results
		end(err)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// elect runs the led group while the process leads.
func (m *Manager) elect(ctx context.Context) error {
	if provider := providerOf[metrics.ElectionProvider](m); provider != nil {
		defer provider.BeginElection(m.options.Election.Name(), m.options.Election.Leading)()
	}
	return m.await(ctx, "the election", func() error { return m.options.Election.Run(ctx, m.led.run) })
}

// shard runs the sharded group while the process takes part in the ring.
func (m *Manager) shard(ctx context.Context) error {
	if provider := providerOf[metrics.RingProvider](m); provider != nil {
		defer provider.BeginRing(m.options.Ring.Name(), m.ringState)()
	}
	return m.await(ctx, "the ring", func() error {
		return m.options.Ring.Run(ctx, func(working context.Context) error {
			// The controllers go on until the ring has handed over, for ShutdownTimeout at most.
			limited, end := context.WithCancel(working)
			defer end()
			defer context.AfterFunc(ctx, func() {
				select {
				case <-limited.Done():
				case <-m.deadline().Done():
					end()
				}
			})()
			err := m.sharded.run(limited)
			if err == nil && working.Err() == nil {
				err = fmt.Errorf("its part of the ring was not handed over: %w", context.Cause(m.deadline()))
			}
			return err
		})
	})
}

// await calls run, and waits until it has returned, or the manager's deadline has passed. name
// describes it in errors. The end of ctx is no error.
func (m *Manager) await(ctx context.Context, name string, run func() error) error {
	result := make(chan error, 1)
	go func() { result <- run() }()
	var err error
	select {
	case err = <-result:
	case <-ctx.Done():
		select {
		case err = <-result:
		case <-m.deadline().Done():
			// If controllers hang, their group gives up on them now, and the run ends.
			select {
			case err = <-result:
			case <-time.After(time.Second):
				err = fmt.Errorf("%s has not ended: %w", name, context.Cause(m.deadline()))
			}
		}
	}
	if isSame(err, context.Cause(ctx)) {
		return nil
	}
	return err
}

func (m *Manager) ringState() metrics.RingState {
	s := m.options.Ring.Status()
	state := metrics.RingState{
		Active: s.State == "active", Coordinator: s.Identity != "" && s.Coordinator == s.Identity,
		Granted: int64(s.Granted), Released: int64(s.Released), Evicted: int64(s.Evicted), Unclaimed: int64(s.Unclaimed),
	}
	for n := range s.Members {
		if s.Members[n].TakesPart() {
			state.Members++
		}
	}
	for n := range s.Buckets {
		b := &s.Buckets[n]
		if b.State == "held" || b.State == "draining" {
			state.Owned++
		}
		state.Unowned = max(state.Unowned, b.UnownedFor)
	}
	return state
}

// ringHealth names processes and parts, so its error is for authorized requests.
func (m *Manager) ringHealth(*http.Request) error { return m.options.Ring.Healthy() }

// ringReady is public, and names nothing. A process that has joined is ready, even if it owns
// nothing so far: a rolling update then ends another one, whose part this one takes over. If it
// waited for a part, two updated processes might take parts from each other.
func (m *Manager) ringReady(*http.Request) error {
	s := m.options.Ring.Status()
	if err := s.Joined(); err != nil {
		return fmt.Errorf("not ready: %w", err)
	}
	return nil
}
