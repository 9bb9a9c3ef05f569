// SPDX-License-Identifier: Apache-2.0

package workqueue_test

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

// model is a work queue made of one map, in which everything is looked for. Times are since it was
// made.
type model struct {
	limiter  workqueue.Exponential
	keys     map[int]*modelled
	order    int // of what became ready, delayed or paced, by turns
	interval time.Duration
	burst    int
	credit   time.Duration // of retries: an interval for each
	credited time.Duration // until when
	closed   bool
	mode     workqueue.Mode
	dropped  int
}

// modelled is a key in the model.
type modelled struct {
	state    string // ready, running, delayed, paced or held
	level    workqueue.Level
	order    int // within its state
	failures int
	since    time.Duration // ready or running
	ended    time.Duration // its last attempt
	due      time.Duration // if delayed or held
	retry    bool          // if delayed: because it failed

	// of a key that is running or held, what was added meanwhile
	again     bool
	later     bool // at:
	at        time.Duration
	atRetry   bool
	nextLevel workqueue.Level
}

func (m *model) next() int { m.order++; return m.order }

func (m *model) of(state string) (keys []int) {
	for key, k := range m.keys {
		if k.state == state {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b int) int { return m.keys[a].order - m.keys[b].order })
	return keys
}

// ready returns the keys of a level that are ready, the first one first.
func (m *model) ready(l workqueue.Level) []int {
	return slices.DeleteFunc(m.of("ready"), func(key int) bool { return m.keys[key].level != l })
}

func (k *modelled) is(state string, order int) { k.state, k.order = state, order }

func (m *model) delay(k *modelled, until time.Duration, retry bool) {
	k.is("delayed", m.next())
	k.due, k.retry = until, retry
}

// readyAt makes a key ready, now or then.
func (m *model) readyAt(k *modelled, due, now time.Duration, retry bool) {
	switch {
	case due > now:
		m.delay(k, due, retry)
	case retry && m.interval > 0:
		k.is("paced", m.next())
	default:
		m.makeReady(k, due)
	}
}

func (m *model) makeReady(k *modelled, since time.Duration) {
	k.is("ready", m.next())
	k.since = since
}

func (m *model) floor(k *modelled) time.Duration { return k.ended + max(0, m.limiter.Base) }

// retry returns the delay after the last failure of a key.
func (m *model) retry(k *modelled) time.Duration {
	delay := max(0, m.limiter.Base)
	for range k.failures - 1 {
		delay = min(2*delay, max(delay, m.limiter.Max))
	}
	return delay
}

// tick does what is due.
func (m *model) tick(now time.Duration) {
	for {
		var first *modelled
		var key int
		for other, k := range m.keys {
			if (k.state == "delayed" || k.state == "held") && k.due <= now &&
				(first == nil || cmp.Or(cmp.Compare(k.due, first.due), cmp.Compare(k.order, first.order)) < 0) {
				first, key = k, other
			}
		}
		if first == nil {
			break
		}
		if first.state == "held" {
			m.endHold(key, now)
		} else {
			m.readyAt(first, first.due, now, first.retry)
		}
	}
	m.credit = min(m.credit+now-m.credited, time.Duration(m.burst)*m.interval)
	m.credited = now
	for _, key := range m.of("paced") {
		if m.credit >= m.interval {
			m.credit -= m.interval
			m.makeReady(m.keys[key], now)
		}
	}
}

// nextTick returns when tick will do something.
func (m *model) nextTick(now time.Duration) (at time.Duration, ok bool) {
	for _, k := range m.keys {
		if (k.state == "delayed" || k.state == "held") && (!ok || k.due < at) {
			at, ok = k.due, true
		}
	}
	if paced := m.of("paced"); len(paced) > 0 {
		if open := now + m.interval - m.credit; !ok || open < at {
			at, ok = open, true
		}
	}
	return at, ok
}

func (m *model) add(key int, opts workqueue.AddOptions, now time.Duration) {
	if m.closed {
		return
	}
	k := m.keys[key]
	if k == nil {
		m.keys[key] = &modelled{level: opts.Level}
		m.readyAt(m.keys[key], now+max(0, opts.After), now, false)
		return
	}
	due := now + max(0, opts.After)
	if k.state == "running" || k.state == "held" {
		if !k.again && !k.later {
			k.nextLevel = opts.Level
		}
		k.nextLevel = max(k.nextLevel, opts.Level)
		switch {
		case k.state == "running" && k.again:
		case due == now && k.state == "running":
			k.again, k.later, k.at = true, false, now
		case due == now:
			k.again = true
		case !k.later || due < k.at:
			k.later, k.at, k.atRetry = true, due, false
		}
		return
	}
	raised := opts.Level > k.level
	k.level = max(k.level, opts.Level)
	if k.failures > 0 {
		due = max(due, m.floor(k))
	}
	switch {
	case k.state == "ready" && raised:
		k.order = m.next()
	case k.state == "paced" && opts.After <= 0:
		m.readyAt(k, due, now, false)
	case k.state == "delayed":
		if opts.After <= 0 {
			k.retry = false
		}
		if due < k.due {
			m.readyAt(k, due, now, false)
		}
	}
}

func (m *model) get(key int, now time.Duration) {
	k := m.keys[key]
	k.state, k.since, k.again, k.later = "running", now, false, false
}

func (m *model) done(key int, o workqueue.Outcome, now time.Duration) {
	k := m.keys[key]
	k.ended = now
	switch {
	case o.Failed:
		k.failures = min(255, k.failures+1)
	default:
		k.failures = 0
	}
	keeps := o.Failed || o.After > 0
	if (k.again || k.later) && (!keeps || k.nextLevel > k.level) {
		k.level = k.nextLevel
	}
	k.nextLevel = k.level
	if m.closed {
		switch {
		case k.again && m.mode == workqueue.Drain && o.Hold <= 0:
			m.makeReady(k, now)
		default:
			if keeps || k.again || k.later {
				m.dropped++
			}
			delete(m.keys, key)
		}
		return
	}
	if k.later && o.Failed {
		k.at = max(k.at, m.floor(k))
	}
	k.atRetry = false
	earlier := func(at time.Duration, retry bool) {
		if !k.later || at < k.at || retry && at == k.at {
			k.later, k.at, k.atRetry = true, at, retry
		}
	}
	switch {
	case o.Failed && o.After > 0:
		earlier(min(now+m.retry(k), max(m.floor(k), now+o.After)), true)
	case o.Failed:
		earlier(now+m.retry(k), true)
	case o.After > 0 && !k.again:
		earlier(now+o.After, false)
	}
	if o.Hold > 0 {
		k.is("held", m.next())
		k.due = now + o.Hold
		return
	}
	m.comeBack(key, now)
}

func (m *model) endHold(key int, now time.Duration) {
	k := m.keys[key]
	k.ended, k.level = now, k.nextLevel
	if k.again && k.failures == 0 {
		k.at = now
	}
	m.comeBack(key, now)
}

func (m *model) comeBack(key int, now time.Duration) {
	k := m.keys[key]
	switch {
	case k.again && k.failures == 0:
		m.makeReady(k, k.at)
	case k.again && k.later:
		m.readyAt(k, max(now, min(k.at, m.floor(k))), now, false)
	case k.again:
		m.readyAt(k, m.floor(k), now, false)
	case k.later:
		m.readyAt(k, k.at, now, k.atRetry)
	default:
		delete(m.keys, key)
	}
}

func (m *model) release(key int, now time.Duration) {
	if k := m.keys[key]; k != nil && k.state == "held" {
		m.endHold(key, now)
	}
}

func (m *model) shutDown(mode workqueue.Mode) {
	if !m.closed {
		m.mode = mode
	}
	m.closed, m.mode = true, min(m.mode, mode)
	for key, k := range maps.Clone(m.keys) {
		drops := k.state == "delayed" || k.state == "paced" || k.state == "held" && (k.again || k.later) ||
			k.state == "ready" && m.mode == workqueue.Drop
		if drops {
			m.dropped++
		}
		if drops || k.state == "held" {
			delete(m.keys, key)
		}
	}
}
