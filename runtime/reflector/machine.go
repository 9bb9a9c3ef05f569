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
			return m.begin()
		}
		m.version, m.restored = in.version, true
		return m.enter(StateConnecting)
	case inConfirmed:
		return m.confirm(in)
	case inQuiet:
		return m.quiet()
	case inOpened:
		if m.state == StateConnecting && !m.restored {
			m.state = StateWatching
		}
		m.noWatch = false
		return action{}
	case inEvent:
		if m.state == StateStreaming {
			return m.initial(in)
		}
		return m.change(in)
	case inPage:
		return m.page(in)
	case inEnded:
		return m.ended(in)
	case inFailed:
		return m.failed(in)
	case inElapsed:
		return m.enter(m.then)
	case inProbed:
		if older(in.version, m.version) {
			return m.noticed(reason.WentBack)
		}
		if m.restored && in.version != "" {
			return m.accept(taskWatch)
		}
		return m.enter(StateConnecting)
	}
	return action{}
}

func (m *machine) begin() action {
	m.pages = pages{}
	drop := callNothing
	if m.restored {
		m.restored, drop = false, callAbort
	}
	if m.rules.stream && !m.noStream && !m.noWatch && !m.listOnly {
		m.state = StateStreaming
		a := action{call: drop, task: taskStream, version: m.version}
		if m.fresh {
			a.version = ""
		}
		return a
	}
	m.state = StateListing
	a := action{call: drop, task: taskList}
	switch {
	case m.rules.pageSize > 0:
		a.limit = m.rules.pageSize
	case m.fresh:
		a.limit = defaultPage
	case m.version == "":
		// Version 0 asks for any cached state; a server that answers from its cache ignores the
		// limit.
		a.version, a.limit = "0", defaultPage
	default:
		a.version, a.match = m.version, string(metav1.ResourceVersionMatchNotOlderThan)
		if m.paged {
			a.limit = defaultPage
		}
	}
	if m.whole {
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
		return m.then == StateListing
	}
	return false
}

func (m *machine) enter(next State) action {
	if next == StateConnecting {
		m.state = StateConnecting
		if m.doubt {
			m.doubt = false
			return action{task: taskProbe}
		}
		return action{task: taskWatch, version: m.version}
	}
	return m.begin()
}

// retry enters next at once, but not twice in a row.
func (m *machine) retry(next State) action {
	if m.hasty {
		return m.wait(next, 0)
	}
	m.hasty = true
	return m.enter(next)
}

func (m *machine) wait(next State, after time.Duration) action {
	m.state, m.then = StateWaiting, next
	return action{task: taskWait, after: after}
}

// initial handles an event of a watch-list before its bookmark.
func (m *machine) initial(in *input) action {
	switch in.event {
	case source.Added, source.Modified:
		return action{call: callReplaced}
	case source.Deleted:
		return action{call: callDeleted}
	}
	if !in.initialEnd {
		return action{}
	}
	if m.isOld(in.version) {
		return action{task: taskLeave, noticed: reason.WentBack}
	}
	m.complete(in.version)
	m.state = StateWatching
	return action{call: callEnd, told: in.version}
}

func (m *machine) change(in *input) action {
	c, ok := m.next(in.event, in.version)
	switch {
	case !ok:
		return action{task: taskLeave, noticed: reason.WentBack}
	case c == callBookmark:
		return action{call: c, told: in.version}
	}
	return action{call: c}
}

// next moves the version of a watch to an event's, and returns the sink call for the event, which
// is all that most events need. If the event is older than the previous one, next does nothing and
// returns false.
func (m *machine) next(event source.EventType, version string) (c call, ok bool) {
	if older(version, m.version) {
		return callNothing, false
	}
	m.version = version
	switch event {
	case source.Added:
		return callAdded, true
	case source.Modified:
		return callModified, true
	case source.Deleted:
		return callDeleted, true
	}
	return callBookmark, true
}

func (m *machine) page(in *input) action {
	p := m.pages
	if p.token == "" {
		if m.isOld(in.version) {
			return m.noticed(reason.WentBack)
		}
		p.version = in.version
		m.paged = m.paged || in.token != "" && m.version == "" && !m.fresh && m.rules.pageSize == 0
	}
	if in.token == "" {
		// Later pages have the version of the first one. If a server sends them with a newer one,
		// watching from the older one repeats changes, but misses none.
		m.complete(p.version)
		m.state = StateConnecting
		return action{call: callEnd, told: p.version, task: taskWatch, version: p.version}
	}
	p.empty++
	if in.items > 0 {
		p.empty = 0
	}
	if in.token == p.token || in.token == p.kept || p.empty > maxEmptyPages {
		return m.noticed(reason.EndlessList)
	}
	p.token = in.token
	if p.count++; p.count >= p.next {
		p.kept, p.count, p.next = in.token, 0, max(1, 2*p.next)
	}
	m.pages = p
	a := action{task: taskPage, token: in.token, limit: m.rules.pageSize}
	if a.limit == 0 {
		a.limit = defaultPage
	}
	return a
}

// noticed handles a failure found by step itself.
func (m *machine) noticed(why reason.Reason) action {
	a := m.failed(&input{typ: inFailed, reason: why})
	a.noticed = why
	return a
}

func (m *machine) complete(version string) {
	m.version, m.synced = version, true
	m.fresh, m.anew, m.whole, m.listOnly, m.doubt = false, false, false, false, false
	m.pages = pages{}
}

func (m *machine) ended(in *input) action {
	if in.healthy {
		m.hasty = false
	}
	switch {
	case m.state == StateStreaming:
		return m.noticed(reason.NoBookmark)
	case !in.brief:
		return m.enter(StateConnecting)
	case in.events && !m.hasty:
		return m.retry(StateConnecting)
	}
	a := m.wait(StateConnecting, 0)
	a.noticed = reason.ShortWatch
	return a
}

func (m *machine) failed(in *input) action {
	if in.healthy {
		m.hasty = false
	}
	switch m.state {
	case StateStreaming:
		a := m.streamFailed(in)
		a.call = callAbort
		return a
	case StateListing:
		a := m.listFailed(in)
		a.call = callAbort
		return a
	}
	return m.watchFailed(in)
}

func (m *machine) streamFailed(in *input) action {
	switch in.reason {
	case reason.Refused:
		m.noStream = true
		return m.begin()
	case reason.Expired, reason.TooNew:
		m.fresh, m.listOnly = true, true
		return m.begin()
	case reason.NoBookmark, reason.Silent, reason.ServerError:
		// A list may succeed where a watch-list fails; it is tried once per round.
		m.listOnly = true
		return m.begin()
	case reason.WentBack:
		return m.wentBack()
	case reason.WatchForbidden:
		m.noWatch = true
		return m.retry(StateListing)
	case reason.BadData, reason.Transform:
		m.listOnly = true
		return m.retry(StateListing)
	case reason.Unreachable:
		// A list would hardly succeed at once.
		m.listOnly = true
	}
	return m.wait(StateListing, in.after)
}

func (m *machine) listFailed(in *input) action {
	switch in.reason {
	case reason.Expired:
		if m.pages.token != "" {
			m.whole = true
		} else {
			m.fresh = true
		}
		return m.retry(StateListing)
	case reason.TooNew, reason.WentBack:
		return m.wentBack()
	case reason.Forbidden:
		if m.noWatch && m.synced && !m.fresh {
			// lists are forbidden too; a watch resumes at the last version
			m.noWatch = false
			return m.wait(StateConnecting, in.after)
		}
	}
	m.listOnly = false // if this list replaced a watch-list, the next round tries one again
	if in.reason == reason.BadData || in.reason == reason.Transform {
		return m.retry(StateListing)
	}
	return m.wait(StateListing, in.after)
}

func (m *machine) watchFailed(in *input) action {
	switch in.reason {
	case reason.Expired, reason.Unreadable:
		return m.retry(StateListing)
	case reason.TooNew, reason.WentBack:
		return m.wentBack()
	case reason.WatchForbidden:
		if m.noWatch {
			return m.wait(StateListing, in.after)
		}
		m.noWatch = true
	case reason.Silent:
		if m.restored {
			return m.retry(StateListing) // the server says neither yes nor no
		}
		if m.state == StateWatching {
			// Most likely nothing has changed. The next requests show whether the server still
			// answers, and its version.
			m.doubt = true
			return m.retry(StateConnecting)
		}
	case reason.Refused:
		// Most likely the version is the cause. Another full state has another version.
		m.fresh = true
		return m.wait(StateListing, in.after)
	case reason.BadData, reason.Transform:
		if m.stuck == m.version {
			return m.wait(StateListing, in.after)
		}
		m.stuck = m.version
		return m.retry(StateConnecting)
	case reason.ServerError:
		if in.brief && m.state == StateWatching {
			if m.stuck == m.version {
				return m.wait(StateListing, in.after)
			}
			m.stuck = m.version
		}
	}
	return m.wait(StateConnecting, in.after)
}

// wentBack begins a round after a version older than a previous one, or not yet reached by the
// server.
func (m *machine) wentBack() action {
	m.fresh, m.anew = true, true
	return m.retry(StateListing)
}

// isOld reports whether a full state at version is older than the sink's, and was not read anew for
// that reason. Then it can't be used, even if it is the most recent one.
func (m *machine) isOld(version string) bool {
	return !m.anew && older(version, m.version)
}

// older reports whether version a is older than b. It returns false for incomparable versions.
func older(a, b string) bool {
	if len(a) > len(b) || len(a) == len(b) && a >= b {
		return false // also if incomparable
	}
	c, err := resourceversion.Compare(a, b)
	return err == nil && c < 0
}
