// SPDX-License-Identifier: Apache-2.0

package workqueue_test

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

// model is a simple work queue: one map, searched for each operation. Times count from its
// creation.
type model struct {
	limiter  workqueue.Exponential
	keys     map[int]*modelKey
	tenants  int // at least 1; key k is of tenant k mod tenants
	turns    int // given to tenants
	order    int // of the last key that became ready, delayed, paced or held
	interval time.Duration
	burst    int
	credit   time.Duration // for retries: an interval for each
	credited time.Duration // time of the last credit
	closed   bool
	mode     workqueue.Mode
	dropped  int
}

// modelKey is a key of the model.
type modelKey struct {
	state    string // ready, running, delayed, paced or held
	level    workqueue.Level
	order    int // within its state
	turn     int // in its line, if it is the first ready or paced key of its tenant
	failures int
	since    time.Duration // ready or running
	ended    time.Duration // its last attempt
	due      time.Duration // if delayed or held
	retry    bool          // if delayed: after a failure

	// Set by adds and outcomes during a run or hold.
	requeue      bool
	requeueLater bool // at requeueAt
	requeueAt    time.Duration
	requeueRetry bool
	requeueLevel workqueue.Level

	purged bool // while running
}

func (m *model) keysIn(state string) (keys []int) {
	for key, k := range m.keys {
		if k.state == state {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b int) int { return m.keys[a].order - m.keys[b].order })
	return keys
}

// readyAtLevel returns the ready keys of a level in the order in which they became ready.
func (m *model) readyAtLevel(l workqueue.Level) []int {
	return slices.DeleteFunc(m.keysIn("ready"), func(key int) bool { return m.keys[key].level != l })
}

// next returns the key that has the next turn.
func (m *model) next(keys []int) int {
	return slices.MinFunc(slices.DeleteFunc(slices.Clone(keys), func(key int) bool { return m.keys[key].turn == 0 }),
		func(a, b int) int { return m.keys[a].turn - m.keys[b].turn })
}

func (m *model) enter(k *modelKey, state string) {
	m.order++
	k.state, k.order, k.turn = state, m.order, 0
	m.giveTurns()
}

// giveTurns gives each tenant's first key of a line the turn after all others, unless it has one. A
// line has the ready keys of a level, or the paced keys.
func (m *model) giveTurns() {
	var lines [][]int
	for l := workqueue.Low; l <= workqueue.High; l++ {
		lines = append(lines, m.readyAtLevel(l))
	}
	for _, line := range append(lines, m.keysIn("paced")) {
		had := map[int]bool{}
		for _, key := range line {
			if k := m.keys[key]; !had[key%m.tenants] && k.turn == 0 {
				m.turns++
				k.turn = m.turns
			}
			had[key%m.tenants] = true
		}
	}
}

// tenantCount returns the number of tenants that have keys.
func (m *model) tenantCount() int {
	tenants := map[int]bool{}
	for key := range m.keys {
		tenants[key%m.tenants] = true
	}
	return len(tenants)
}

func (m *model) delay(k *modelKey, until time.Duration, retry bool) {
	m.enter(k, "delayed")
	k.due, k.retry = until, retry
}

// readyAt makes a key ready now, or at due.
func (m *model) readyAt(k *modelKey, due, now time.Duration, retry bool) {
	switch {
	case due > now:
		m.delay(k, due, retry)
	case retry && m.interval > 0:
		m.enter(k, "paced")
	default:
		m.makeReady(k, due)
	}
}

func (m *model) makeReady(k *modelKey, since time.Duration) {
	m.enter(k, "ready")
	k.since = since
}

func (m *model) earliestRetry(k *modelKey) time.Duration { return k.ended + max(0, m.limiter.Base) }

// retryDelay returns the delay after the last failure of a key.
func (m *model) retryDelay(k *modelKey) time.Duration {
	delay := max(0, m.limiter.Base)
	for range k.failures - 1 {
		delay = min(2*delay, max(delay, m.limiter.Max))
	}
	return delay
}

// tick ends due delays and holds, and hands credit to paced keys.
func (m *model) tick(now time.Duration) {
	for {
		var first *modelKey
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
	for paced := m.keysIn("paced"); len(paced) > 0 && m.credit >= m.interval; paced = m.keysIn("paced") {
		m.credit -= m.interval
		m.makeReady(m.keys[m.next(paced)], now)
	}
}

// nextTick returns the time of the next change by tick.
func (m *model) nextTick(now time.Duration) (at time.Duration, ok bool) {
	for _, k := range m.keys {
		if (k.state == "delayed" || k.state == "held") && (!ok || k.due < at) {
			at, ok = k.due, true
		}
	}
	if paced := m.keysIn("paced"); len(paced) > 0 {
		if turn := now + m.interval - m.credit; !ok || turn < at {
			at, ok = turn, true
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
		m.keys[key] = &modelKey{level: opts.Level}
		m.readyAt(m.keys[key], now+max(0, opts.After), now, false)
		return
	}
	due := now + max(0, opts.After)
	if k.state == "running" || k.state == "held" {
		k.purged = false
		if !k.requeue && !k.requeueLater {
			k.requeueLevel = opts.Level
		}
		k.requeueLevel = max(k.requeueLevel, opts.Level)
		switch {
		case k.state == "running" && k.requeue:
		case due == now && k.state == "running":
			k.requeue, k.requeueLater, k.requeueAt = true, false, now
		case due == now:
			k.requeue = true
		case !k.requeueLater || due < k.requeueAt:
			k.requeueLater, k.requeueAt, k.requeueRetry = true, due, false
		}
		return
	}
	raised := opts.Level > k.level
	k.level = max(k.level, opts.Level)
	if k.failures > 0 {
		due = max(due, m.earliestRetry(k))
	}
	switch {
	case k.state == "ready" && raised:
		m.enter(k, "ready")
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
	m.enter(k, "running")
	k.since, k.requeue, k.requeueLater = now, false, false
}

func (m *model) done(key int, o workqueue.Outcome, now time.Duration) {
	k := m.keys[key]
	if k.purged {
		delete(m.keys, key)
		return
	}
	k.ended = now
	switch {
	case o.Failed:
		k.failures = min(255, k.failures+1)
	default:
		k.failures = 0
	}
	returns := o.Failed || o.After > 0
	if (k.requeue || k.requeueLater) && (!returns || k.requeueLevel > k.level) {
		k.level = k.requeueLevel
	}
	k.requeueLevel = k.level
	if m.closed {
		switch {
		case k.requeue && m.mode == workqueue.Drain && o.Hold <= 0:
			m.makeReady(k, now)
		default:
			if returns || k.requeue || k.requeueLater {
				m.dropped++
			}
			delete(m.keys, key)
		}
		return
	}
	if k.requeueLater && o.Failed {
		k.requeueAt = max(k.requeueAt, m.earliestRetry(k))
	}
	k.requeueRetry = false
	earlier := func(at time.Duration, retry bool) {
		if !k.requeueLater || at < k.requeueAt || retry && at == k.requeueAt {
			k.requeueLater, k.requeueAt, k.requeueRetry = true, at, retry
		}
	}
	switch {
	case o.Failed && o.After > 0:
		earlier(min(now+m.retryDelay(k), max(m.earliestRetry(k), now+o.After)), true)
	case o.Failed:
		earlier(now+m.retryDelay(k), true)
	case o.After > 0 && !k.requeue:
		earlier(now+o.After, false)
	}
	if o.Hold > 0 {
		m.enter(k, "held")
		k.due = now + o.Hold
		return
	}
	m.requeue(key, now)
}

func (m *model) endHold(key int, now time.Duration) {
	k := m.keys[key]
	k.ended, k.level = now, k.requeueLevel
	if k.requeue && k.failures == 0 {
		k.requeueAt = now
	}
	m.requeue(key, now)
}

func (m *model) requeue(key int, now time.Duration) {
	k := m.keys[key]
	switch {
	case k.requeue && k.failures == 0:
		m.makeReady(k, k.requeueAt)
	case k.requeue && k.requeueLater:
		m.readyAt(k, max(now, min(k.requeueAt, m.earliestRetry(k))), now, false)
	case k.requeue:
		m.readyAt(k, m.earliestRetry(k), now, false)
	case k.requeueLater:
		m.readyAt(k, k.requeueAt, now, k.requeueRetry)
	default:
		delete(m.keys, key)
	}
}

func (m *model) release(key int, now time.Duration) {
	if k := m.keys[key]; k != nil && k.state == "held" {
		m.endHold(key, now)
	}
}

func (m *model) purge(matches func(key int) bool) {
	for key, k := range maps.Clone(m.keys) {
		switch {
		case !matches(key):
		case k.state == "running":
			k.purged, k.requeue, k.requeueLater = true, false, false
		default:
			delete(m.keys, key)
		}
	}
	m.giveTurns()
}

func (m *model) shutDown(mode workqueue.Mode) {
	if !m.closed {
		m.mode = mode
	}
	m.closed, m.mode = true, min(m.mode, mode)
	for key, k := range maps.Clone(m.keys) {
		drops := k.state == "delayed" || k.state == "paced" || k.state == "held" && (k.requeue || k.requeueLater) ||
			k.state == "ready" && m.mode == workqueue.Drop
		if drops {
			m.dropped++
		}
		if drops || k.state == "held" {
			delete(m.keys, key)
		}
	}
}
