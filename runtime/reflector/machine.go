// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/informer-gen/informer-gen/runtime/source"
)

// step is the whole behaviour: from a state and an input to the next state and an action. It has no clock, no timer, no
// lock and no loop.
func step(s state, in input) (state, action) {
	switch in.kind {
	case inStart:
		return s.begin()
	case inOpened:
		if s.phase == StateConnecting {
			s.phase = StateWatching
		}
		return s, action{}
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
			return s.found(ReasonWentBack)
		}
		return s.enter(StateConnecting)
	}
	return s, action{}
}

// begin starts a round: a new full state.
func (s state) begin() (state, action) {
	s.pages = pages{}
	if s.rules.stream && !s.noStream && !s.listOnly {
		s.phase = StateStreaming
		a := action{op: opStream, version: s.version}
		if s.fresh {
			a.version = ""
		}
		return s, a
	}
	s.phase = StateListing
	a := action{op: opList}
	switch {
	case s.rules.pageSize > 0:
		a.limit = s.rules.pageSize
	case s.fresh:
		a.limit = defaultPage
	case s.version == "":
		// What the server has cached; a server that answers from its cache ignores the limit.
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
	return s, a
}

// enter goes to where a wait or a retry leads.
func (s state) enter(next State) (state, action) {
	if next == StateConnecting {
		s.phase = StateConnecting
		if s.doubt {
			s.doubt = false
			return s, action{op: opProbe}
		}
		return s, action{op: opWatch, version: s.version}
	}
	return s.begin()
}

// retry goes there at once, but not twice in a row.
func (s state) retry(next State) (state, action) {
	if s.hasty {
		return s.wait(next, 0)
	}
	s.hasty = true
	return s.enter(next)
}

func (s state) wait(next State, after time.Duration) (state, action) {
	s.phase, s.then = StateWaiting, next
	return s, action{op: opWait, after: after}
}

// initial is an event of a watch-list before its bookmark.
func (s state) initial(in input) (state, action) {
	switch in.event {
	case source.Added, source.Modified:
		return s, action{call: callReplace}
	case source.Deleted:
		return s, action{call: callDelete}
	}
	if !in.initialEnd {
		return s, action{}
	}
	if s.isOld(in.version) {
		return s, action{op: opLeave, found: ReasonWentBack}
	}
	s = s.complete(in.version)
	s.phase = StateWatching
	return s, action{call: callEnd, told: in.version}
}

// change is an event of a watch.
func (s state) change(in input) (state, action) {
	if older(in.version, s.version) {
		return s, action{op: opLeave, found: ReasonWentBack}
	}
	s.version = in.version
	switch in.event {
	case source.Added:
		return s, action{call: callAdd}
	case source.Modified:
		return s, action{call: callUpdate}
	case source.Deleted:
		return s, action{call: callDelete}
	}
	return s, action{call: callBookmark, told: in.version}
}

func (s state) page(in input) (state, action) {
	p := s.pages
	if p.token == "" {
		if s.isOld(in.version) {
			return s.found(ReasonWentBack)
		}
		p.version = in.version
		s.paged = s.paged || in.token != "" && s.version == "" && !s.fresh && s.rules.pageSize == 0
	}
	if in.token == "" {
		// The later pages of a list stand at the version of its first one. Where a server has them newer, watching from
		// the older one repeats changes and misses none.
		s = s.complete(p.version)
		s.phase = StateConnecting
		return s, action{call: callEnd, told: p.version, op: opWatch, version: p.version}
	}
	p.empty++
	if in.items > 0 {
		p.empty = 0
	}
	if in.token == p.token || in.token == p.kept || p.empty > maxEmptyPages {
		return s.found(ReasonEndlessList)
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
	return s, a
}

// found treats what step has noticed itself like a failure of the source.
func (s state) found(reason Reason) (state, action) {
	s, a := s.failed(input{kind: inFailed, reason: reason})
	a.found = reason
	return s, a
}

// complete notes that the sink has a full state that stands at version.
func (s state) complete(version string) state {
	s.version, s.synced = version, true
	s.fresh, s.whole, s.listOnly, s.doubt = false, false, false, false
	s.pages = pages{}
	return s
}

func (s state) ended(in input) (state, action) {
	if in.healthy {
		s.hasty = false
	}
	switch {
	case s.phase == StateStreaming:
		return s.found(ReasonNoBookmark)
	case !in.brief:
		return s.enter(StateConnecting)
	case in.events && !s.hasty:
		return s.retry(StateConnecting)
	}
	s, a := s.wait(StateConnecting, 0)
	a.found = ReasonShortWatch
	return s, a
}

func (s state) failed(in input) (state, action) {
	if in.healthy {
		s.hasty = false
	}
	switch s.phase {
	case StateStreaming:
		s, a := s.streamFailed(in)
		a.call = callAbort
		return s, a
	case StateListing:
		s, a := s.listFailed(in)
		a.call = callAbort
		return s, a
	}
	return s.watchFailed(in)
}

func (s state) streamFailed(in input) (state, action) {
	switch in.reason {
	case ReasonRefused:
		s.noStream = true
		return s.begin()
	case ReasonExpired, ReasonTooNew:
		s.fresh, s.listOnly = true, true
		return s.begin()
	case ReasonNoBookmark, ReasonSilent, ReasonServerError:
		// A list may succeed where a watch-list fails; it is tried once per round.
		s.listOnly = true
		return s.begin()
	case ReasonWentBack:
		s.fresh = true
		return s.retry(StateListing)
	case ReasonBadData, ReasonTransform:
		s.listOnly = true
		return s.retry(StateListing)
	case ReasonUnreachable:
		// A list will hardly do better at once. But something on the way to the server may dislike long answers.
		s.listOnly = true
	}
	return s.wait(StateListing, in.after)
}

func (s state) listFailed(in input) (state, action) {
	switch in.reason {
	case ReasonExpired:
		if s.pages.token != "" {
			s.whole = true
		} else {
			s.fresh = true
		}
		return s.retry(StateListing)
	case ReasonTooNew, ReasonWentBack:
		s.fresh = true
		return s.retry(StateListing)
	}
	s.listOnly = false // the next one is a watch-list again, if this one stood in for one
	if in.reason == ReasonBadData || in.reason == ReasonTransform {
		return s.retry(StateListing)
	}
	return s.wait(StateListing, in.after)
}

func (s state) watchFailed(in input) (state, action) {
	switch in.reason {
	case ReasonExpired, ReasonUnreadable:
		return s.retry(StateListing)
	case ReasonTooNew, ReasonWentBack:
		s.fresh = true
		return s.retry(StateListing)
	case ReasonSilent:
		if s.phase == StateWatching {
			// Most likely nothing has happened. The next requests show whether the server is still there, and where.
			s.doubt = true
			return s.retry(StateConnecting)
		}
	case ReasonRefused:
		// Most likely it is because of the version: another full state brings another one.
		s.fresh = true
		return s.wait(StateListing, in.after)
	case ReasonBadData, ReasonTransform:
		if s.stuck == s.version {
			return s.wait(StateListing, in.after)
		}
		s.stuck = s.version
		return s.retry(StateConnecting)
	case ReasonServerError:
		if in.brief && s.phase == StateWatching {
			if s.stuck == s.version {
				return s.wait(StateListing, in.after)
			}
			s.stuck = s.version
		}
	}
	return s.wait(StateConnecting, in.after)
}

// isOld says whether a full state at version can't be used because a newer one has been seen. The most recent one always
// can.
func (s state) isOld(version string) bool {
	return !s.fresh && older(version, s.version)
}

// older says whether a is a version before b; versions that can't be compared are not.
func older(a, b string) bool {
	c, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && c < 0
}
