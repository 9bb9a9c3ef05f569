// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// Reason is the kind of a failure. It determines what the reflector does next.
type Reason uint8

// The reasons.
const (
	// ReasonNone means no failure.
	ReasonNone Reason = iota
	// ReasonUnauthorized is 401: the credentials are not accepted. Tried again with backoff.
	ReasonUnauthorized
	// ReasonForbidden is 403: the account may not list the resource. Tried again with backoff.
	ReasonForbidden
	// ReasonWatchForbidden is 403 for a watch or a watch-list: the account may not watch the
	// resource. If it may list it, the reflector lists instead of watching, again and again with
	// the waits of Backoff, and tries to watch after each list. Then it has synced, and its state
	// is as old as the last list. If watches were allowed before, it first tries once more to
	// watch.
	ReasonWatchForbidden
	// ReasonNotFound is 404: the server doesn't have the resource (yet). Tried again with backoff.
	ReasonNotFound
	// ReasonThrottled is 429, or 5xx with a Retry-After. The reflector obeys a Retry-After with any
	// reason, up to Backoff.MaxRetryAfter.
	ReasonThrottled
	// ReasonServerError is 5xx, also in the middle of a watch. Tried again with backoff. If two
	// watches at the same version are accepted and then fail at once like this, a full state is
	// read.
	ReasonServerError
	// ReasonUnreachable is a connection that was refused, reset, cut off or never made. Tried again
	// with backoff.
	ReasonUnreachable
	// ReasonSilent is a connection that brought nothing for Tuning.SilenceTimeout. A watch that was
	// open is opened again at once, and with backoff from the second time on; before that, the
	// reflector asks for the server's version. Other requests are tried again with backoff.
	ReasonSilent
	// ReasonNoBookmark is a watch-list whose initial events did not end. A list is read instead.
	ReasonNoBookmark
	// ReasonRefused is 400, 405, 406, 415, 422 or another 4xx: the server doesn't support the
	// request. If it was a watch-list, lists are used from then on; otherwise it is tried again
	// with backoff.
	ReasonRefused
	// ReasonExpired is 410: the server no longer has the version that was asked for. A full state
	// is read.
	ReasonExpired
	// ReasonTooNew is a version that the server has not reached. The most recent full state is
	// read.
	ReasonTooNew
	// ReasonWentBack is a server whose versions went backwards, as after a restored backup. The
	// most recent full state is read, and replaces everything.
	ReasonWentBack
	// ReasonUnreadable is an object that the server could not read from its storage. A full state
	// is read anew.
	ReasonUnreadable
	// ReasonBadData is an answer that could not be decoded. The request is repeated, with backoff
	// from the second time on; if a watch brings bad data twice at the same version, a full state
	// is read.
	ReasonBadData
	// ReasonTransform is an object that the Source could not transform ([TransformError]). Treated
	// like ReasonBadData.
	ReasonTransform
	// ReasonShortWatch is a watch that the server closed at once. It is opened again with backoff.
	ReasonShortWatch
	// ReasonEndlessList is a list whose continue tokens repeat or whose pages stay empty. Tried
	// again with backoff.
	ReasonEndlessList
)

var reasonNames = [...]string{
	ReasonNone:           "none",
	ReasonUnauthorized:   "unauthorized",
	ReasonForbidden:      "forbidden",
	ReasonWatchForbidden: "watch forbidden",
	ReasonNotFound:       "not found",
	ReasonThrottled:      "throttled",
	ReasonServerError:    "server error",
	ReasonUnreachable:    "unreachable",
	ReasonSilent:         "silent",
	ReasonNoBookmark:     "no bookmark",
	ReasonRefused:        "refused",
	ReasonExpired:        "expired",
	ReasonTooNew:         "version too new",
	ReasonWentBack:       "versions went back",
	ReasonUnreadable:     "unreadable in storage",
	ReasonBadData:        "bad data",
	ReasonTransform:      "transform failed",
	ReasonShortWatch:     "watch closed at once",
	ReasonEndlessList:    "endless list",
}

// String returns one or a few lower-case words, "none" for ReasonNone.
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
// reflector may want to give up. Lasting returns false for ReasonWatchForbidden, since lists
// replace watches.
func (r Reason) Lasting() bool {
	switch r {
	case ReasonUnauthorized, ReasonForbidden, ReasonNotFound, ReasonRefused, ReasonBadData, ReasonTransform:
		return true
	}
	return false
}

// ReasonOf returns the reason of err, which is an error of a Source or one that OnError was called
// with. It returns ReasonNone for nil, and ReasonUnreachable for an error that shows no other
// reason.
func ReasonOf(err error) Reason {
	if err == nil {
		return ReasonNone
	}
	reason, _ := classify(err)
	return reason
}

// TransformError is the failure of a transform for one object between the server and the Sink. A
// Source that transforms returns it from List and Watch; the Sink keeps what it has.
type TransformError struct {
	// Key is the key of the object as the server sent it.
	Key object.Key
	// Err is the cause. It is never nil.
	Err error
}

// Error returns one line with the key and the reason.
func (e *TransformError) Error() string { return fmt.Sprintf("transform %s: %v", e.Key, e.Err) }

// Unwrap returns Err.
func (e *TransformError) Unwrap() error { return e.Err }

// The errors of failures that a Reflector notices itself. errors.Is finds them in Status.LastError
// and in the argument of OnError.
var (
	// ErrSilent is a connection that brought nothing for Tuning.SilenceTimeout.
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

// noticedErrors has the errors of the reasons that step notices itself.
var noticedErrors = [len(reasonNames)]error{
	ReasonNoBookmark:  ErrNoBookmark,
	ReasonWentBack:    ErrWentBack,
	ReasonShortWatch:  ErrShortWatch,
	ReasonEndlessList: ErrEndlessList,
}

// classify returns the reason of err, and the server's Retry-After, 0 if the server has sent none.
func classify(err error) (Reason, time.Duration) {
	// First the errors that don't come from the server: they may wrap any error.
	var transform *TransformError
	if errors.As(err, &transform) {
		return ReasonTransform, 0
	}
	switch {
	case errors.Is(err, ErrSilent):
		return ReasonSilent, 0
	case errors.Is(err, ErrNoBookmark):
		return ReasonNoBookmark, 0
	case errors.Is(err, ErrWentBack):
		return ReasonWentBack, 0
	case errors.Is(err, ErrShortWatch):
		return ReasonShortWatch, 0
	case errors.Is(err, ErrEndlessList):
		return ReasonEndlessList, 0
	}
	var api apierrors.APIStatus
	if errors.As(err, &api) {
		return classifyStatus(err, api.Status())
	}
	var decode *source.DecodeError
	if errors.As(err, &decode) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return ReasonBadData, 0
	}
	return ReasonUnreachable, 0
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
		return ReasonExpired, 0
	case isTooNew(status):
		return ReasonTooNew, 0
	case status.Reason == metav1.StatusReasonStoreReadError:
		return ReasonUnreadable, 0
	}
	var after time.Duration
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok && seconds > 0 {
		after = time.Duration(seconds) * time.Second
	}
	reason := refusal(status)
	switch {
	case reason == ReasonServerError && after > 0:
		reason = ReasonThrottled
	case reason == ReasonForbidden && errors.Is(err, ErrWatchForbidden):
		reason = ReasonWatchForbidden
	}
	return reason, after
}

// refusal returns the reason of a status, whatever its Retry-After.
func refusal(status metav1.Status) Reason {
	switch {
	case status.Code == http.StatusTooManyRequests, status.Reason == metav1.StatusReasonTooManyRequests:
		return ReasonThrottled
	case status.Code == http.StatusUnauthorized, status.Reason == metav1.StatusReasonUnauthorized:
		return ReasonUnauthorized
	case status.Code == http.StatusForbidden, status.Reason == metav1.StatusReasonForbidden:
		return ReasonForbidden
	case status.Code == http.StatusNotFound, status.Reason == metav1.StatusReasonNotFound:
		return ReasonNotFound
	case status.Code >= 400 && status.Code < 500:
		return ReasonRefused
	}
	switch status.Reason {
	case metav1.StatusReasonBadRequest, metav1.StatusReasonInvalid, metav1.StatusReasonMethodNotAllowed,
		metav1.StatusReasonNotAcceptable, metav1.StatusReasonUnsupportedMediaType:
		return ReasonRefused
	}
	return ReasonServerError
}
