// SPDX-License-Identifier: Apache-2.0

// Package reason names the failures between a reflector, which lists and watches objects, and its
// server. [Of] returns the reason of an error.
//
// Nothing here blocks or starts a goroutine, and all of it is safe for concurrent use.
package reason

import (
	"math/rand/v2"
	"time"
)

// Reason is a kind of failure. It determines the reflector's next step.
type Reason uint8

// The reasons. Unless said otherwise, the reflector tries again with backoff.
const (
	// None means no failure.
	None Reason = iota
	// Unauthorized is 401: the credentials are not accepted.
	Unauthorized
	// Forbidden is 403: the account may not list the resource.
	Forbidden
	// WatchForbidden is 403 for a watch or a watch-list: the account may not watch the resource. If
	// it may list it, the reflector lists repeatedly instead, waiting as reflector.Backoff says,
	// and tries to watch after each list. It then counts as synced, with a state as old as the last
	// list. If watches were allowed before, it first tries once more to watch.
	WatchForbidden
	// NotFound is 404: the server doesn't have the resource (yet). With Optional of
	// reflector.Config it is no failure.
	NotFound
	// Throttled is 429, or 5xx with a Retry-After. The reflector obeys a Retry-After with any
	// reason, up to 5 minutes.
	Throttled
	// ServerError is 5xx, also in the middle of a watch. If two watches at the same version are
	// accepted and then fail at once like this, a full state is read.
	ServerError
	// Unreachable is a connection refused, reset, cut off or never made.
	Unreachable
	// Silent is a connection without data for reflector.Tuning.SilenceTimeout. An open watch is
	// opened again at once, and with backoff from the second time on; before reopening it, the
	// reflector asks for the server's version.
	Silent
	// NoBookmark is a watch-list whose initial events did not end. A list is read instead.
	NoBookmark
	// Refused is 400, 405, 406, 415, 422 or another 4xx, or errors.ErrUnsupported: the server
	// doesn't support the request. After a refused watch-list, lists are used from then on.
	Refused
	// Expired is 410: the server no longer has the requested version. A full state is read.
	Expired
	// TooNew is a version newer than the server's. The most recent full state is read.
	TooNew
	// WentBack is a server whose versions went backwards, as after a restored backup. The most
	// recent full state is read, and replaces everything.
	WentBack
	// Unreadable is an object the server could not read from its storage. A full state is read.
	Unreadable
	// BadData is a response that could not be decoded. The request is repeated, with backoff from
	// the second time on; if a watch brings bad data twice at the same version, a full state is
	// read.
	BadData
	// Transform is an object the Source could not transform ([source.TransformError]). Treated like
	// BadData.
	Transform
	// ShortWatch is a watch closed by the server at once. It is opened again with backoff.
	ShortWatch
	// EndlessList is a list whose continue tokens repeat or whose pages stay empty.
	EndlessList
)

// String returns one or a few lower-case words, "none" for None.
func (r Reason) String() string {
	if int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	return "unknown"
}

// MarshalText returns r.String().
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Lasting reports whether such a failure lasts until a person intervenes: grants the account its
// rights, installs the resource, repairs the object. It may still end, and the reflector keeps
// trying; a caller waiting for it may want to give up. Lasting returns false for WatchForbidden,
// since lists replace watches.
func (r Reason) Lasting() bool {
	switch r {
	case Unauthorized, Forbidden, NotFound, Refused, BadData, Transform:
		return true
	}
	return false
}

// Of returns the reason of err, an error of a Source or one passed to OnError of reflector.Config.
// It returns None for nil, and Unreachable for an error without another reason.
func Of(err error) Reason {
	if err == nil {
		return None
	}
	r, _ := classify(err)
	return r
}

// maxRetryAfter bounds the wait a server can ask for: a wrong Retry-After must not stop an informer
// forever.
const maxRetryAfter = 5 * time.Minute

// RetryAfter returns the wait requested by the server in err (Retry-After, in a header or a
// Status): at most 5 minutes, prolonged at random by up to a tenth. It returns 0 if the server asks
// for no wait, or if waiting doesn't help, as for 410.
func RetryAfter(err error) time.Duration {
	_, after := classify(err)
	after = min(after, maxRetryAfter)
	return after + time.Duration(rand.Float64()*0.1*float64(after))
}

// Error is a failure detected by the reflector itself: Silent, NoBookmark, WentBack, ShortWatch or
// EndlessList; or a WatchForbidden wrapping the server's error. [Of] returns its Reason.
type Error struct {
	Reason Reason
	// Err has the details. It may be nil.
	Err error
}

// Error returns a sentence about the reason, followed by the details.
func (e *Error) Error() string {
	text := errorTexts[e.Reason]
	if text == "" {
		text = e.Reason.String()
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is an *Error of the same reason without details. So errors.Is finds
// each of several joined errors, where [Of] returns only the reason of the first.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Err == nil && t.Reason == e.Reason
}
