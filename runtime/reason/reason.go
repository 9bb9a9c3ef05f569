// SPDX-License-Identifier: Apache-2.0

// Package reason names what can go wrong between a reflector and its server, and returns the reason
// of an error. Status.Reason of package reflector is the reason of the failure from which the
// reflector is recovering; informer.FailOn takes reasons.
//
// Nothing here blocks or starts a goroutine, and all of it is safe for concurrent use.
package reason

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/source"
)

// Reason is the kind of a failure. It determines what a reflector does next.
type Reason uint8

// The reasons.
const (
	// None means no failure.
	None Reason = iota
	// Unauthorized is 401: the credentials are not accepted. Tried again with backoff.
	Unauthorized
	// Forbidden is 403: the account may not list the resource. Tried again with backoff.
	Forbidden
	// WatchForbidden is 403 for a watch or a watch-list: the account may not watch the resource. If
	// it may list it, the reflector lists instead of watching, again and again with the waits of
	// reflector.Backoff, and tries to watch after each list. Then it has synced, and its state is
	// as old as the last list. If watches were allowed before, it first tries once more to watch.
	WatchForbidden
	// NotFound is 404: the server doesn't have the resource (yet). Tried again with backoff.
	NotFound
	// Throttled is 429, or 5xx with a Retry-After. The reflector obeys a Retry-After with any
	// reason, up to reflector.Backoff.MaxRetryAfter.
	Throttled
	// ServerError is 5xx, also in the middle of a watch. Tried again with backoff. If two
	// watches at the same version are accepted and then fail at once like this, a full state is
	// read.
	ServerError
	// Unreachable is a connection that was refused, reset, cut off or never made. Tried again
	// with backoff.
	Unreachable
	// Silent is a connection that brought nothing for reflector.Tuning.SilenceTimeout. A watch that
	// was open is opened again at once, and with backoff from the second time on; before that, the
	// reflector asks for the server's version. Other requests are tried again with backoff.
	Silent
	// NoBookmark is a watch-list whose initial events did not end. A list is read instead.
	NoBookmark
	// Refused is 400, 405, 406, 415, 422 or another 4xx: the server doesn't support the
	// request. If it was a watch-list, lists are used from then on; otherwise it is tried again
	// with backoff.
	Refused
	// Expired is 410: the server no longer has the version that was asked for. A full state
	// is read.
	Expired
	// TooNew is a version that the server has not reached. The most recent full state is
	// read.
	TooNew
	// WentBack is a server whose versions went backwards, as after a restored backup. The
	// most recent full state is read, and replaces everything.
	WentBack
	// Unreadable is an object that the server could not read from its storage. A full state
	// is read anew.
	Unreadable
	// BadData is an answer that could not be decoded. The request is repeated, with backoff
	// from the second time on; if a watch brings bad data twice at the same version, a full state
	// is read.
	BadData
	// Transform is an object that the Source could not transform ([source.TransformError]). Treated
	// like BadData.
	Transform
	// ShortWatch is a watch that the server closed at once. It is opened again with backoff.
	ShortWatch
	// EndlessList is a list whose continue tokens repeat or whose pages stay empty. Tried
	// again with backoff.
	EndlessList
)

var reasonNames = [...]string{
	None:           "none",
	Unauthorized:   "unauthorized",
	Forbidden:      "forbidden",
	WatchForbidden: "watch forbidden",
	NotFound:       "not found",
	Throttled:      "throttled",
	ServerError:    "server error",
	Unreachable:    "unreachable",
	Silent:         "silent",
	NoBookmark:     "no bookmark",
	Refused:        "refused",
	Expired:        "expired",
	TooNew:         "version too new",
	WentBack:       "versions went back",
	Unreadable:     "unreadable in storage",
	BadData:        "bad data",
	Transform:      "transform failed",
	ShortWatch:     "watch closed at once",
	EndlessList:    "endless list",
}

// String returns one or a few lower-case words, "none" for None.
func (r Reason) String() string {
	if int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	return "unknown"
}

// MarshalText returns what String does.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Lasting reports whether such a failure lasts until a person does something about it: gives the
// account the rights, installs the resource, repairs the object. It may still end (a resource may
// be about to be installed), and the reflector goes on trying; a caller that waits for the
// reflector may want to give up. Lasting returns false for WatchForbidden, since lists
// replace watches.
func (r Reason) Lasting() bool {
	switch r {
	case Unauthorized, Forbidden, NotFound, Refused, BadData, Transform:
		return true
	}
	return false
}

// Of returns the reason of err, which is an error of a Source, or one that OnError of
// reflector.Config was called with. It returns None for nil, and Unreachable for an error that
// shows no other reason.
func Of(err error) Reason {
	if err == nil {
		return None
	}
	r, _ := classify(err)
	return r
}

// RetryAfter returns how long the server that sent err asks to wait, uncapped. It returns 0 if the
// server asks for nothing, and if waiting doesn't help, as against 410.
func RetryAfter(err error) time.Duration {
	_, after := classify(err)
	return after
}

// The errors of failures that a reflector notices itself. errors.Is finds them in LastError of
// reflector.Status and in the argument of OnError of reflector.Config.
var (
	// ErrSilent is a connection that brought nothing for reflector.Tuning.SilenceTimeout.
	ErrSilent = errors.New("the connection was silent for too long")
	// ErrNoBookmark is a watch-list whose initial events did not end.
	ErrNoBookmark = errors.New("the watch-list did not come to the bookmark that ends its initial events")
	// ErrWatchForbidden is a watch that was answered with 403. The server's error is wrapped beside
	// it.
	ErrWatchForbidden = errors.New("the account may not watch the resource; it is listed instead, if that is allowed")
	// ErrWentBack is a server that sent an older version than before.
	ErrWentBack = errors.New("the resource version went backwards")
	// ErrShortWatch is a watch that was closed within a second.
	ErrShortWatch = errors.New("the server closed the watch at once")
	// ErrEndlessList is a list whose continue tokens repeat, or whose pages stay empty.
	ErrEndlessList = errors.New("the list has no end: its continue tokens repeat or its pages stay empty")
)

// classify returns the reason of err, and the server's Retry-After, 0 if the server has sent none.
func classify(err error) (Reason, time.Duration) {
	// First the errors that don't come from the server: they may wrap any error.
	var transform *source.TransformError
	if errors.As(err, &transform) {
		return Transform, 0
	}
	switch {
	case errors.Is(err, ErrSilent):
		return Silent, 0
	case errors.Is(err, ErrNoBookmark):
		return NoBookmark, 0
	case errors.Is(err, ErrWentBack):
		return WentBack, 0
	case errors.Is(err, ErrShortWatch):
		return ShortWatch, 0
	case errors.Is(err, ErrEndlessList):
		return EndlessList, 0
	}
	var api apierrors.APIStatus
	if errors.As(err, &api) {
		return classifyStatus(err, api.Status())
	}
	var decode *source.DecodeError
	if errors.As(err, &decode) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return BadData, 0
	}
	return Unreachable, 0
}

// isTooNew reports whether a status is about a version that the server has not reached: by its
// cause, or, for servers that send no cause, by its text.
func isTooNew(status metav1.Status) bool {
	const text = "Too large resource version"
	if status.Details != nil {
		for _, cause := range status.Details.Causes {
			if cause.Type == metav1.CauseTypeResourceVersionTooLarge || strings.Contains(cause.Message, text) {
				return true
			}
		}
	}
	return strings.Contains(status.Message, text)
}

func classifyStatus(err error, status metav1.Status) (Reason, time.Duration) {
	// First the failures that need a full state: waiting doesn't help against them.
	switch {
	case status.Code == http.StatusGone, status.Reason == metav1.StatusReasonExpired, status.Reason == metav1.StatusReasonGone:
		return Expired, 0
	case isTooNew(status):
		return TooNew, 0
	case status.Reason == metav1.StatusReasonStoreReadError:
		return Unreadable, 0
	}
	var after time.Duration
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok && seconds > 0 {
		after = time.Duration(seconds) * time.Second
	}
	r := refusal(status)
	switch {
	case r == ServerError && after > 0:
		r = Throttled
	case r == Forbidden && errors.Is(err, ErrWatchForbidden):
		r = WatchForbidden
	}
	return r, after
}

// refusal returns the reason of a status, whatever its Retry-After.
func refusal(status metav1.Status) Reason {
	switch {
	case status.Code == http.StatusTooManyRequests, status.Reason == metav1.StatusReasonTooManyRequests:
		return Throttled
	case status.Code == http.StatusUnauthorized, status.Reason == metav1.StatusReasonUnauthorized:
		return Unauthorized
	case status.Code == http.StatusForbidden, status.Reason == metav1.StatusReasonForbidden:
		return Forbidden
	case status.Code == http.StatusNotFound, status.Reason == metav1.StatusReasonNotFound:
		return NotFound
	case status.Code >= 400 && status.Code < 500:
		return Refused
	}
	switch status.Reason {
	case metav1.StatusReasonBadRequest, metav1.StatusReasonInvalid, metav1.StatusReasonMethodNotAllowed,
		metav1.StatusReasonNotAcceptable, metav1.StatusReasonUnsupportedMediaType:
		return Refused
	}
	return ServerError
}
