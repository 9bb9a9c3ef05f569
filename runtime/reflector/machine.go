// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/resourceversion"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// step is the whole behaviour: from a state and an input it computes the next state and an action.
// It has no clock, no timer, no lock and no loop.
func step(s state, in input) (state, action) {
	a := s.step(&in)
	return s, a
}

// step does the same in place: a state and an input are too large to be copied at each step.
func (s *state) step(in *input) action {
	switch in.kind {
	case inStart:
		return s.begin()
	case inOpened:
		if s.phase == StateConnecting {
			s.phase = StateWatching
		}
		s.noWatch = false
		return action{}
	case inEvent:
		if s.phase == StateStreaming {
			return s.initial(in)
		}
		return s.change(in)
	case inPage:
		return s.page(in)
	case inEnded:
		return s.ended(in)
	case inFailed:
		return s.failed(in)
	case inElapsed:
		return s.enter(s.then)
	case inProbed:
		if older(in.version, s.version) {
			return s.noticed(reason.WentBack)
		}
		return s.enter(StateConnecting)
	}
	return action{}
}

// begin starts a round, which reads a new full state.
func (s *state) begin() action {
	s.pages = pages{}
	if s.rules.stream && !s.noStream && !s.noWatch && !s.listOnly {
		s.phase = StateStreaming
		a := action{op: opStream, version: s.version}
		if s.fresh {
			a.version = ""
		}
		return a
	}
	s.phase = StateListing
	a := action{op: opList}
	switch {
	case s.rules.pageSize > 0:
		a.limit = s.rules.pageSize
	case s.fresh:
		a.limit = defaultPage
	case s.version == "":
		// Version 0 asks for what the server has in its cache; a server that answers from its cache
		// ignores the limit.
		a.version, a.limit = "0", defaultPage
	default:
		a.version, a.match = s.version, string(metav1.ResourceVersionMatchNotOlderThan)
		if s.paged {
			a.limit = defaultPage
		}
	}
	if s.whole {
		a.limit = 0
	}
	return a
}

// enter begins the state to which a wait or a retry leads.
func (s *state) enter(next State) action {
	if next == StateConnecting {
		s.phase = StateConnecting
		if s.doubt {
			s.doubt = false
			return action{op: opProbe}
		}
		return action{op: opWatch, version: s.version}
	}
	return s.begin()
}

// retry enters next at once, but not twice in a row.
func (s *state) retry(next State) action {
	if s.hasty {
		return s.wait(next, 0)
	}
	s.hasty = true
	return s.enter(next)
}

func (s *state) wait(next State, after time.Duration) action {
	s.phase, s.then = StateWaiting, next
	return action{op: opWait, after: after}
}

// initial handles an event of a watch-list before its bookmark.
func (s *state) initial(in *input) action {
	switch in.event {
	case source.Added, source.Modified:
		return action{call: callReplace}
	case source.Deleted:
		return action{call: callDelete}
	}
	if !in.initialEnd {
		return action{}
	}
	if s.isOld(in.version) {
		return action{op: opLeave, noticed: reason.WentBack}
	}
	s.complete(in.version)
	s.phase = StateWatching
	return action{call: callEnd, told: in.version}
}

// change handles an event of a watch.
func (s *state) change(in *input) action {
	c, ok := s.next(in.event, in.version)
	switch {
	case !ok:
		return action{op: opLeave, noticed: reason.WentBack}
	case c == callBookmark:
		return action{call: c, told: in.version}
	}
	return action{call: c}
}

// next moves the version of a watch to that of an event, and returns the call to the sink for it.
// Most events need no more than that. If the event is older than the previous one, next does
// nothing and returns false.
func (s *state) next(event source.EventType, version string) (c call, ok bool) {
	if older(version, s.version) {
		return callNothing, false
	}
	s.version = version
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

func (s *state) page(in *input) action {
	p := s.pages
	if p.token == "" {
		if s.isOld(in.version) {
			return s.noticed(reason.WentBack)
		}
		p.version = in.version
		s.paged = s.paged || in.token != "" && s.version == "" && !s.fresh && s.rules.pageSize == 0
	}
	if in.token == "" {
		// The later pages of a list have the version of the first one. If a server sends them with
		// a newer one, watching from the older one repeats changes, but misses none.
		s.complete(p.version)
		s.phase = StateConnecting
		return action{call: callEnd, told: p.version, op: opWatch, version: p.version}
	}
	p.empty++
	if in.items > 0 {
		p.empty = 0
	}
	if in.token == p.token || in.token == p.kept || p.empty > maxEmptyPages {
		return s.noticed(reason.EndlessList)
	}
	p.token = in.token
	if p.count++; p.count >= p.next {
		p.kept, p.count, p.next = in.token, 0, max(1, 2*p.next)
	}
	s.pages = p
	a := action{op: opPage, token: in.token, limit: s.rules.pageSize}
	if a.limit == 0 {
		a.limit = defaultPage
	}
	return a
}

// noticed treats a failure that step itself has noticed like a failure of the source.
func (s *state) noticed(why reason.Reason) action {
	a := s.failed(&input{kind: inFailed, reason: why})
	a.noticed = why
	return a
}

// complete notes that the sink has a full state at version.
func (s *state) complete(version string) {
	s.version, s.synced = version, true
	s.fresh, s.anew, s.whole, s.listOnly, s.doubt = false, false, false, false, false
	s.pages = pages{}
}

func (s *state) ended(in *input) action {
	if in.healthy {
		s.hasty = false
	}
	switch {
	case s.phase == StateStreaming:
		return s.noticed(reason.NoBookmark)
	case !in.brief:
		return s.enter(StateConnecting)
	case in.events && !s.hasty:
		return s.retry(StateConnecting)
	}
	a := s.wait(StateConnecting, 0)
	a.noticed = reason.ShortWatch
	return a
}

func (s *state) failed(in *input) action {
	if in.healthy {
		s.hasty = false
	}
	switch s.phase {
	case StateStreaming:
		a := s.streamFailed(in)
		a.call = callAbort
		return a
	case StateListing:
		a := s.listFailed(in)
		a.call = callAbort
		return a
	}
	return s.watchFailed(in)
}

func (s *state) streamFailed(in *input) action {
	switch in.reason {
	case reason.Refused:
		s.noStream = true
		return s.begin()
	case reason.Expired, reason.TooNew:
		s.fresh, s.listOnly = true, true
		return s.begin()
	case reason.NoBookmark, reason.Silent, reason.ServerError:
		// A list may succeed where a watch-list fails; it is tried once per round.
		s.listOnly = true
		return s.begin()
	case reason.WentBack:
		return s.wentBack()
	case reason.WatchForbidden:
		s.noWatch = true
		return s.retry(StateListing)
	case reason.BadData, reason.Transform:
		s.listOnly = true
		return s.retry(StateListing)
	case reason.Unreachable:
		// A list would hardly succeed at once. But something on the way to the server may cut off
		// long responses.
		s.listOnly = true
	}
	return s.wait(StateListing, in.after)
}

func (s *state) listFailed(in *input) action {
	switch in.reason {
	case reason.Expired:
		if s.pages.token != "" {
			s.whole = true
		} else {
			s.fresh = true
		}
		return s.retry(StateListing)
	case reason.TooNew, reason.WentBack:
		return s.wentBack()
	case reason.Forbidden:
		if s.noWatch && s.synced && !s.fresh {
			// lists are forbidden too; a watch goes on where the last one ended
			s.noWatch = false
			return s.wait(StateConnecting, in.after)
		}
	}
	s.listOnly = false // the next round begins with a watch-list again, if this list replaced one
	if in.reason == reason.BadData || in.reason == reason.Transform {
		return s.retry(StateListing)
	}
	return s.wait(StateListing, in.after)
}

func (s *state) watchFailed(in *input) action {
	switch in.reason {
	case reason.Expired, reason.Unreadable:
		return s.retry(StateListing)
	case reason.TooNew, reason.WentBack:
		return s.wentBack()
	case reason.WatchForbidden:
		if s.noWatch {
			return s.wait(StateListing, in.after)
		}
		s.noWatch = true
	case reason.Silent:
		if s.phase == StateWatching {
			// Most likely nothing has changed. The next requests show whether the server still
			// answers, and its version.
			s.doubt = true
			return s.retry(StateConnecting)
		}
	case reason.Refused:
		// Most likely the version is the cause. Another full state has another version.
		s.fresh = true
		return s.wait(StateListing, in.after)
	case reason.BadData, reason.Transform:
		if s.stuck == s.version {
			return s.wait(StateListing, in.after)
		}
		s.stuck = s.version
		return s.retry(StateConnecting)
	case reason.ServerError:
		if in.brief && s.phase == StateWatching {
			if s.stuck == s.version {
				return s.wait(StateListing, in.after)
			}
			s.stuck = s.version
		}
	}
	return s.wait(StateConnecting, in.after)
}

// wentBack begins a round after a version that is older than a previous one, or that the server has
// not reached. Under one of the newer versions, the sink may have other objects than the server has
// under the same version, so all is read anew.
func (s *state) wentBack() action {
	s.fresh, s.anew = true, true
	return s.retry(StateListing)
}

// isOld reports whether a full state at version is older than the sink's, and was not read anew for
// that reason. Then it can't be used, even if it is the most recent one.
func (s *state) isOld(version string) bool {
	return !s.anew && older(version, s.version)
}

// older reports whether a is an older version than b. It returns false for versions that can't be
// compared.
func older(a, b string) bool {
	c, err := resourceversion.Compare(a, b)
	return err == nil && c < 0
}
