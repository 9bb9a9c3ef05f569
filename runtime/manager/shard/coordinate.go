// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"context"
	"errors"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// coordinate takes part in the election of the coordinator until ctx is done.
func (m *run) coordinate(ctx context.Context) {
	for ctx.Err() == nil {
		err := m.coordinator.Run(ctx, func(ctx context.Context) error {
			m.leads.Store(true)
			defer m.leads.Store(false)
			m.poke()
			<-ctx.Done()
			return nil
		})
		if ctx.Err() == nil {
			m.logger.Error(err, "This process coordinates the ring no more")
		}
	}
}

// releaseTime is the time for a member to release a bucket.
func (m *run) releaseTime() time.Duration {
	return m.ring.options.Grace + 2*m.ring.options.RetryPeriod
}

// forgetAfter is how long the Leases of dead members are kept, for people.
const forgetAfter = time.Minute

type writeResult struct {
	write write
	err   error
}

// plan sends the coordinator's next writes. The same write is sent again after RetryPeriod at the
// earliest, whether it has failed or its answer is awaited.
func (m *run) plan(now time.Duration) {
	for _, w := range m.decide(now) {
		key := keyOf(&w)
		if at, ok := m.attempts[key]; ok && now-at < m.ring.options.RetryPeriod {
			continue
		}
		m.attempts[key] = now
		from := m.stored[w.identity]
		if from != nil && from.ResourceVersion != w.version {
			from = nil
		}
		if from == nil && w.version != "" && w.table == nil && !w.remove {
			continue // the next look has it
		}
		m.wg.Go(func() {
			result := writeResult{w, nil}
			result.err = m.request(&w, func() *coordinationv1.Lease { return takenLease(&m.ring.options, from, &w) })
			select {
			case m.reports <- report{write: &result}:
			case <-m.term.Context().Done():
			}
		})
	}
	for key, at := range m.attempts {
		if now-at >= m.ring.options.LeaseDuration {
			delete(m.attempts, key)
		}
	}
}

func (m *run) decide(now time.Duration) []write {
	o := &m.ring.options
	patience := 2*max(0, o.JoinDelay) + o.RetryPeriod // more than any member needs to join
	if m.hasTable() && !m.view.absent {
		return m.view.decide(planFor(&m.view, o.Spares, patience, now), m.times(), now)
	}
	return m.view.reset(m.ring.settings, o.Buckets, m.times(), now)
}

func (m *run) times() times {
	o := &m.ring.options
	return times{lease: o.LeaseDuration, release: m.releaseTime(), forget: forgetAfter, wallClock: time.Now().Unix()}
}

// keyOf names a write, also for logs. Equal writes, based on equal versions, have equal names.
func keyOf(w *write) string {
	if w.table != nil {
		return fmt.Sprintf("table %s %d", w.table.version, w.table.generation)
	}
	return fmt.Sprintf("%s %s %s", w.identity, w.version, w.state)
}

// request sends a write, and waits for the answer. taken makes the Lease of a member.
func (m *run) request(w *write, taken func() *coordinationv1.Lease) (err error) {
	ctx, cancel := context.WithTimeout(m.background, m.ring.options.requestTimeout())
	defer cancel()
	o, client := &m.ring.options, m.ring.client
	switch {
	case w.remove:
		return client.Delete(ctx, leaseName(o.Name, w.identity), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &w.version}})
	case w.table != nil:
		l := newTableLease(o, w.table)
		if w.table.version == "" {
			l, err = client.Create(ctx, l, metav1.CreateOptions{})
		} else {
			l, err = client.Update(ctx, l, metav1.UpdateOptions{})
		}
		if err == nil {
			w.table.version, w.table.uid = l.ResourceVersion, string(l.UID)
		}
		return err
	case w.version == "":
		_, err = client.Create(ctx, taken(), metav1.CreateOptions{})
		return err
	}
	_, err = client.Update(ctx, taken(), metav1.UpdateOptions{})
	return err
}

// takeWrite notes the end of a write.
func (m *run) takeWrite(r *writeResult, now time.Duration) {
	switch err := r.err; {
	case err == nil && r.write.table != nil:
		m.view.setTable(*r.write.table, now)
	case err == nil && r.write.state.gone():
		m.logger.Info("A member has lost its Lease", "lost", r.write.identity, "state", r.write.state)
	case err == nil:
	case apierrors.IsConflict(err), apierrors.IsNotFound(err), apierrors.IsAlreadyExists(err):
		// Somebody has written meanwhile; the informer will show it.
	case !errors.Is(err, context.Canceled):
		m.logger.Error(err, "The coordinator's write failed", "write", keyOf(&r.write))
	}
}
