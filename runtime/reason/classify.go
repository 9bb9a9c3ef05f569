// SPDX-License-Identifier: Apache-2.0

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

// classify returns the reason of err, and the server's Retry-After, or 0 if there is none.
func classify(err error) (Reason, time.Duration) {
	// First come errors of our own: they may wrap any error.
	var transform *source.TransformError
	if errors.As(err, &transform) {
		return Transform, 0
	}
	var own *Error
	if errors.As(err, &own) {
		_, after := classify(own.Err)
		return own.Reason, after
	}
	if errors.Is(err, errors.ErrUnsupported) {
		return Refused, 0
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

// isTooNew reports whether status rejects a version newer than the server's: by its cause, or, for
// servers that send no cause, by its text.
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
	// First come failures that need a full state: waiting doesn't help against them.
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
	if r == ServerError && after > 0 {
		r = Throttled
	}
	return r, after
}

// refusal returns the reason of status, ignoring its Retry-After.
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
