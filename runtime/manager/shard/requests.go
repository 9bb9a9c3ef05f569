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
	"k8s.io/utils/ptr"
)

// look notes the informer's Leases.
func (m *run) look(now time.Duration) error {
	o := &m.ring.options
	present := map[string]*coordinationv1.Lease{}
	m.view.absent = true
	for l := range m.ring.leases.Store().Snapshot().All() {
		if l.Name != tableName(o.Name) {
			identity := identityOf(o.Name, l.Name)
			present[identity] = l
			if known := m.view.members[identity]; known == nil || known.version != l.ResourceVersion {
				m.view.setMember(leaseOf(l, o.Name, o.Buckets), now)
			}
			continue
		}
		m.view.absent = false
		if l.ResourceVersion == m.view.table.version {
			continue
		}
		t, err := tableOf(l)
		if err != nil {
			return err
		}
		m.view.setTable(t, now)
	}
	m.stored = present
	for identity := range m.view.members {
		if present[identity] == nil {
			m.view.removeMember(identity)
		}
	}
	if own := m.view.members[m.identity]; own != nil && own.state.gone() {
		return fmt.Errorf("%w: another member has taken it: %s", ErrLost, own.state)
	}
	for b := range m.unowned {
		e := entry{}
		if b < len(m.view.table.buckets) {
			e = m.view.table.buckets[b]
		}
		switch owner := m.view.members[e.Owner]; {
		case owner != nil && !owner.state.gone() && now-owner.at < owner.duration:
			m.unowned[b], m.lastOwner[b] = 0, e.Owner
		case m.unowned[b] == 0:
			m.unowned[b] = max(now, 1)
		}
	}
	return m.checkSettings()
}

// checkSettings returns an error if others with other settings are at work.
func (m *run) checkSettings() error {
	t := &m.view.table
	if t.settings == "" || t.settings == m.ring.settings {
		return nil
	}
	for _, other := range m.view.members {
		if other.settings == t.settings && !other.state.gone() {
			return fmt.Errorf("%w: member %s has %s, and this one has %s; stop all members before a change", ErrMismatch, other.identity, t.settings, m.ring.settings)
		}
	}
	return nil
}

// renewalResult is the end of a renewal.
type renewalResult struct {
	sent time.Duration
	// version is the Lease's, as far as known.
	version string
	err     error
	lost    error // the Lease is not this process's any more
}

// renew writes this process's Lease when it is due, or when its contents have changed.
func (m *run) renew(now time.Duration) {
	if m.renewal != nil {
		return
	}
	next := m.lease
	next.state = m.state(now)
	if m.hasTable() {
		next.ready, next.released = m.member.describe(&m.view.table)
	}
	same := next.state == m.lease.state && epochsText(next.ready) == epochsText(m.lease.ready) && epochsText(next.released) == epochsText(m.lease.released)
	if same && now < m.renewAt {
		return
	}
	m.renewal = &next
	written := newMemberLease(&m.ring.options, &next, time.Now())
	timeout := m.ring.options.requestTimeout()
	if m.renewed() { // the less time is left, the more often it tries
		timeout = max(time.Second, time.Until(m.term.Until())/3)
	}
	m.wg.Go(func() {
		result := m.write(written, timeout)
		select {
		case m.reports <- report{renewal: &result}:
		case <-m.term.Context().Done():
		}
	})
}

// renewed reports whether a renewal has opened the term.
func (m *run) renewed() bool { return !m.term.Until().IsZero() }

func (m *run) state(now time.Duration) memberState {
	switch {
	case m.leaveAt > 0 || m.workEnded:
		return leaving
	case !m.hasTable() || now < m.ring.options.JoinDelay:
		return joining
	}
	return active
}

// write writes this process's Lease. After a failure it reads the Lease: the write may have reached
// the server, or the Lease may be another's.
func (m *run) write(l *coordinationv1.Lease, timeout time.Duration) (result renewalResult) {
	ctx, cancel := context.WithTimeout(m.background, timeout)
	defer cancel()
	result.sent = m.now()
	created := l.ResourceVersion == ""
	var err error
	var written *coordinationv1.Lease
	if created {
		written, err = m.ring.client.Create(ctx, l, metav1.CreateOptions{})
	} else {
		written, err = m.ring.client.Update(ctx, l, metav1.UpdateOptions{})
	}
	if err == nil {
		result.version = written.ResourceVersion
		return result
	}
	result.version, result.err = l.ResourceVersion, err
	looking, cancel := context.WithTimeout(m.background, timeout)
	defer cancel()
	found, err := m.ring.client.Get(looking, l.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err) && created:
	case apierrors.IsNotFound(err):
		result.lost = errors.New("it was deleted")
	case err != nil:
		result.err = errors.Join(result.err, err)
	case ptr.Deref(found.Spec.HolderIdentity, "") != m.identity:
		result.lost = fmt.Errorf("another process has taken it: %s", found.Annotations[stateAnnotation])
	default:
		result.version = found.ResourceVersion
	}
	return result
}

// take notes the end of a request.
func (m *run) take(r report) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, o := m.now(), &m.ring.options
	if r.write != nil {
		m.takeWrite(r.write, now)
		return nil
	}
	result, renewal := r.renewal, m.renewal
	m.renewal = nil
	switch {
	case result.lost != nil:
		return fmt.Errorf("%w: %w", ErrLost, result.lost)
	case result.err != nil:
		m.lease.version = result.version
		m.renewAt = result.sent + o.RetryPeriod/4
		if apierrors.IsConflict(result.err) || apierrors.IsAlreadyExists(result.err) {
			m.renewAt = now // with the version that it has now
		}
		m.logger.Error(result.err, "The member's Lease was not renewed")
		return nil
	}
	m.lease = *renewal
	m.lease.version = result.version
	m.term.Extend(m.began.Add(result.sent), o.LeaseDuration-o.Margin)
	if m.term.Err() != nil {
		return fmt.Errorf("%w: a renewal took too long", ErrLost)
	}
	m.renewAt = result.sent + o.RetryPeriod
	return nil
}

// untilNext returns the time until the next step, if nothing changes before.
func (m *run) untilNext(now time.Duration) time.Duration {
	o := &m.ring.options
	next := now + o.RetryPeriod
	at := func(t time.Duration) {
		if t > now {
			next = min(next, t)
		}
	}
	at(m.renewAt)
	at(o.JoinDelay)
	for b, c := range m.member.claims {
		if c.state == draining {
			at(m.draining[b].since + o.Grace)
		}
	}
	if m.leaveAt > 0 {
		at(m.leaveAt + o.LeaseDuration)
	}
	for _, other := range m.view.members {
		at(other.at + other.duration)
	}
	for b, e := range m.view.table.buckets {
		if e.Revoking {
			at(m.view.changed[b] + m.releaseTime())
		}
	}
	return max(next-now, time.Millisecond)
}

// giveUp writes that this process has left. Its fence has shut for good, so nobody needs to wait
// for the end of its lease.
func (m *run) giveUp() {
	m.mu.Lock()
	l := m.lease
	m.mu.Unlock()
	if l.version == "" {
		return
	}
	l.state, l.ready, l.released = left, nil, nil
	for {
		result := m.write(newMemberLease(&m.ring.options, &l, time.Now()), m.ring.options.requestTimeout())
		switch {
		case result.err == nil || result.lost != nil:
			return
		case !apierrors.IsConflict(result.err):
			m.logger.Error(result.err, "The member's Lease was not given up; others wait for its end")
			return
		}
		l.version = result.version
	}
}
