// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/resourceversion"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// step is the whole behaviour. It has no clock, no timer, no lock and no loop.
func step(m machine, in input) (machine, action) {
	a := m.step(&in)
	return m, a
}

// step works in place: a machine and an input are too large to copy at each step.
func (m *machine) step(in *input) action {
	switch in.typ {
	case inStart:
		if in.version == "" {
			return m.beginRound()
		}
		m.version, m.restored = in.version, true
		return m.enter(StateConnecting)
	case inConfirmed:
		return m.confirm(in)
	case inUnconfirmed:
		return m.unconfirmed()
	case inOpened:
		if m.state == StateConnecting && !m.restored {
			m.state = StateWatching
		}
		m.watchForbidden = false
		return action{}
	case inEvent:
		if m.state == StateStreaming {
			return m.initialEvent(in)
		}
		return m.changeEvent(in)
	case inPage:
		return m.page(in)
	case inEnded:
		return m.ended(in)
	case inFailed:
		return m.failed(in)
	case inRelist:
		if in.healthy {
			m.retriedAtOnce = false
		}
		return m.beginRound()
	case inElapsed:
		return m.enter(m.afterWait)
	case inProbed:
		if older(in.version, m.version) {
			return m.detect(reason.WentBack)
		}
		if m.restored && in.version != "" {
			return m.accept(taskWatch)
		}
		return m.enter(StateConnecting)
	}
	return action{}
}

func (m *machine) beginRound() action {
	m.pages = pages{}
	abort := callNone
	if m.restored {
		m.restored, abort = false, callAbortReplace
	}
	if m.rules.watchList && !m.noWatchList && !m.watchForbidden && !m.listOnly {
		m.state = StateStreaming
		a := action{call: abort, task: taskWatchList, version: m.version}
		if m.needsLatest {
			a.version = ""
		}
		return a
	}
	m.state = StateListing
	a := action{call: abort, task: taskList}
	switch {
	case m.rules.pageSize > 0:
		a.limit = m.rules.pageSize
	case m.needsLatest:
		a.limit = defaultPage
	case m.version == "":
		// Version 0 asks for any cached state; a server that answers from its cache ignores the
		// limit.
		a.version, a.limit = "0", defaultPage
	default:
		a.version, a.match = m.version, string(metav1.ResourceVersionMatchNotOlderThan)
		if m.alwaysPages {
			a.limit = defaultPage
		}
	}
	if m.noPages {
		a.limit = 0
	}
	return a
}

// inRound reports whether a full state is being read, or will be after a wait.
func (m *machine) inRound() bool {
	switch m.state {
	case StateStreaming, StateListing:
		return true
	case StateWaiting:
		return m.afterWait == StateListing
	}
	return false
}

func (m *machine) enter(next State) action {
	if next == StateConnecting {
		m.state = StateConnecting
		if m.needsProbe {
			m.needsProbe = false
			return action{task: taskProbe}
		}
		return action{task: taskWatch, version: m.version}
	}
	return m.beginRound()
}

// retry enters next at once, but not twice in a row.
func (m *machine) retry(next State) action {
	if m.retriedAtOnce {
		return m.wait(next, 0)
	}
	m.retriedAtOnce = true
	return m.enter(next)
}

func (m *machine) wait(next State, after time.Duration) action {
	m.state, m.afterWait = StateWaiting, next
	return action{task: taskWait, delay: after}
}

// initialEvent handles an event of a watch-list before its bookmark.
func (m *machine) initialEvent(in *input) action {
	switch in.event {
	case source.Added, source.Modified:
		return action{call: callReplace}
	case source.Deleted:
		return action{call: callDelete}
	}
	if !in.initialEnd {
		return action{}
	}
	if m.isOld(in.version) {
		return action{task: taskStop, detected: reason.WentBack}
	}
	m.complete(in.version)
	m.state = StateWatching
	return action{call: callEndReplace, callVersion: in.version}
}

func (m *machine) changeEvent(in *input) action {
	c, ok := m.advance(in.event, in.version)
	switch {
	case !ok:
		return action{task: taskStop, detected: reason.WentBack}
	case c == callBookmark:
		return action{call: c, callVersion: in.version}
	}
	return action{call: c}
}

// advance moves the version of a watch to an event's, and returns the sink call for the event: all
// that most events need. If the event is older than the previous one, advance does nothing and
// returns false.
func (m *machine) advance(event source.EventType, version string) (c call, ok bool) {
	if older(version, m.version) {
		return callNone, false
	}
	m.version = version
	switch event {
	case source.Added:
		return callAdd, true
	case source.Modified:
		return callUpdate, true
	case source.Deleted:
		return callDelete, true
	}
	return callBookmark, true
}

func (m *machine) page(in *input) action {
	p := m.pages
	if p.token == "" {
		if m.isOld(in.version) {
			return m.detect(reason.WentBack)
		}
		p.version = in.version
		m.alwaysPages = m.alwaysPages || in.token != "" && m.version == "" && !m.needsLatest && m.rules.pageSize == 0
	}
	if in.token == "" {
		// Later pages have the version of the first one. If a server sends them with a newer one,
		// watching from the older one repeats changes, but misses none.
		m.complete(p.version)
		m.state = StateConnecting
		return action{call: callEndReplace, callVersion: p.version, task: taskWatch, version: p.version}
	}
	p.emptyPages++
	if in.items > 0 {
		p.emptyPages = 0
	}
	if in.token == p.token || in.token == p.savedToken || p.emptyPages > maxEmptyPages {
		return m.detect(reason.EndlessList)
	}
	p.token = in.token
	if p.steps++; p.steps >= p.power {
		p.savedToken, p.steps, p.power = in.token, 0, max(1, 2*p.power)
	}
	m.pages = p
	a := action{task: taskPage, token: in.token, limit: m.rules.pageSize}
	if a.limit == 0 {
		a.limit = defaultPage
	}
	return a
}

// detect handles a failure detected by step itself.
func (m *machine) detect(why reason.Reason) action {
	a := m.failed(&input{typ: inFailed, reason: why})
	a.detected = why
	return a
}

func (m *machine) complete(version string) {
	m.version, m.synced = version, true
	m.needsLatest, m.noReuse, m.noPages, m.listOnly, m.needsProbe = false, false, false, false, false
	m.pages = pages{}
}

func (m *machine) ended(in *input) action {
	if in.healthy {
		m.retriedAtOnce = false
	}
	switch {
	case m.state == StateStreaming:
		return m.detect(reason.NoBookmark)
	case !in.shortWatch:
		return m.enter(StateConnecting)
	case in.hasEvents && !m.retriedAtOnce:
		return m.retry(StateConnecting)
	}
	a := m.wait(StateConnecting, 0)
	a.detected = reason.ShortWatch
	return a
}

func (m *machine) failed(in *input) action {
	if in.healthy {
		m.retriedAtOnce = false
	}
	switch m.state {
	case StateStreaming:
		a := m.watchListFailed(in)
		a.call = callAbortReplace
		return a
	case StateListing:
		a := m.listFailed(in)
		a.call = callAbortReplace
		return a
	}
	return m.watchFailed(in)
}

func (m *machine) watchListFailed(in *input) action {
	switch in.reason {
	case reason.Refused:
		m.noWatchList = true
		return m.beginRound()
	case reason.Expired, reason.TooNew:
		m.needsLatest, m.listOnly = true, true
		return m.beginRound()
	case reason.NoBookmark, reason.Silent, reason.ServerError:
		// A list may succeed where a watch-list fails; it is tried once per round.
		m.listOnly = true
		return m.beginRound()
	case reason.WentBack:
		return m.wentBack()
	case reason.WatchForbidden:
		m.watchForbidden = true
		return m.retry(StateListing)
	case reason.BadData, reason.Transform:
		m.listOnly = true
		return m.retry(StateListing)
	case reason.Unreachable:
		// A list would hardly succeed at once.
		m.listOnly = true
	}
	return m.wait(StateListing, in.retryAfter)
}

func (m *machine) listFailed(in *input) action {
	switch in.reason {
	case reason.Expired:
		if m.pages.token != "" {
			m.noPages = true
		} else {
			m.needsLatest = true
		}
		return m.retry(StateListing)
	case reason.TooNew, reason.WentBack:
		return m.wentBack()
	case reason.Forbidden:
		if m.watchForbidden && m.synced && !m.needsLatest {
			// lists are forbidden too; a watch resumes at the last version
			m.watchForbidden = false
			return m.wait(StateConnecting, in.retryAfter)
		}
	}
	m.listOnly = false // if this list replaced a watch-list, the next round tries one again
	if in.reason == reason.BadData || in.reason == reason.Transform {
		return m.retry(StateListing)
	}
	return m.wait(StateListing, in.retryAfter)
}

func (m *machine) watchFailed(in *input) action {
	switch in.reason {
	case reason.Expired, reason.Unreadable:
		return m.retry(StateListing)
	case reason.NotFound:
		if m.rules.optional {
			return m.wait(StateListing, in.retryAfter)
		}
	case reason.TooNew, reason.WentBack:
		return m.wentBack()
	case reason.WatchForbidden:
		if m.watchForbidden {
			return m.wait(StateListing, in.retryAfter)
		}
		m.watchForbidden = true
	case reason.Silent:
		if m.restored {
			return m.retry(StateListing) // the server says neither yes nor no
		}
		if m.state == StateWatching {
			// Most likely nothing has changed. The next requests show whether the server still
			// answers, and its version.
			m.needsProbe = true
			return m.retry(StateConnecting)
		}
	case reason.Refused:
		// Most likely the version is the cause. Another full state has another version.
		m.needsLatest = true
		return m.wait(StateListing, in.retryAfter)
	case reason.BadData, reason.Transform:
		if m.failedVersion == m.version {
			return m.wait(StateListing, in.retryAfter)
		}
		m.failedVersion = m.version
		return m.retry(StateConnecting)
	case reason.ServerError:
		if in.shortWatch && m.state == StateWatching {
			if m.failedVersion == m.version {
				return m.wait(StateListing, in.retryAfter)
			}
			m.failedVersion = m.version
		}
	}
	return m.wait(StateConnecting, in.retryAfter)
}

// wentBack begins a round after a version older than a previous one, or not yet reached by the
// server.
func (m *machine) wentBack() action {
	m.needsLatest, m.noReuse = true, true
	return m.retry(StateListing)
}

// isOld reports whether a full state at version is older than the sink's, and was not read anew for
// that reason. Then it can't be used, even if it is the most recent one.
func (m *machine) isOld(version string) bool {
	return !m.noReuse && older(version, m.version)
}

// older reports whether version a is older than b. It returns false for incomparable versions.
func older(a, b string) bool {
	if len(a) > len(b) || len(a) == len(b) && a >= b {
		return false // also if incomparable
	}
	c, err := resourceversion.Compare(a, b)
	return err == nil && c < 0
}
