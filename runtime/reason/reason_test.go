// SPDX-License-Identifier: Apache-2.0

package reason_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
)

func statusError(code, retryAfter int) error {
	return apierrors.NewGenericServerResponse(code, "list", schema.GroupResource{Resource: "things"}, "", "because", retryAfter, true)
}

var (
	errGone    = apierrors.NewResourceExpired("too old")
	errTooNew  = apierrors.NewTimeoutError("Too large resource version: 9, current: 5", 1)
	errInvalid = statusError(http.StatusUnprocessableEntity, 0)
	errBusy    = statusError(http.StatusServiceUnavailable, 0)
)

func TestOf(t *testing.T) {
	status := func(code int32, why metav1.StatusReason) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Code: code, Reason: why}}
	}
	tooNew := &apierrors.StatusError{ErrStatus: metav1.Status{Code: 504, Reason: metav1.StatusReasonTimeout, Details: &metav1.StatusDetails{
		Causes: []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}, RetryAfterSeconds: 1,
	}}}
	for name, tc := range map[string]struct {
		err   error
		want  reason.Reason
		after time.Duration
	}{
		"no watch-lists":       {fmt.Errorf("fake: %w", errors.ErrUnsupported), reason.Refused, 0},
		"400":                  {statusError(400, 0), reason.Refused, 0},
		"401":                  {statusError(401, 0), reason.Unauthorized, 0},
		"403":                  {statusError(403, 0), reason.Forbidden, 0},
		"401 with Retry-After": {statusError(401, 5), reason.Unauthorized, 5 * time.Second},
		"403 with Retry-After": {statusError(403, 5), reason.Forbidden, 5 * time.Second},
		"404 with Retry-After": {statusError(404, 5), reason.NotFound, 5 * time.Second},
		"422 with Retry-After": {statusError(422, 5), reason.Refused, 5 * time.Second},
		"403 of a watch":       {&reason.Error{Reason: reason.WatchForbidden, Err: statusError(403, 5)}, reason.WatchForbidden, 5 * time.Second},
		"404":                  {statusError(404, 0), reason.NotFound, 0},
		"405":                  {statusError(405, 0), reason.Refused, 0},
		"409":                  {statusError(409, 0), reason.Refused, 0},
		"410":                  {statusError(410, 0), reason.Expired, 0},
		"410 with Retry-After": {statusError(410, 5), reason.Expired, 0},
		"422":                  {errInvalid, reason.Refused, 0},
		"429":                  {statusError(429, 0), reason.Throttled, 0},
		"429 with Retry-After": {statusError(429, 5), reason.Throttled, 5 * time.Second},
		"500":                  {statusError(500, 0), reason.ServerError, 0},
		"503 with Retry-After": {statusError(503, 2), reason.Throttled, 2 * time.Second},
		"503 with years":       {statusError(503, math.MaxInt32), reason.Throttled, 5 * time.Minute},
		"504":                  {statusError(504, 0), reason.ServerError, 0},
		"expired":              {status(0, metav1.StatusReasonExpired), reason.Expired, 0},
		"gone":                 {status(0, metav1.StatusReasonGone), reason.Expired, 0},
		"forbidden":            {status(0, metav1.StatusReasonForbidden), reason.Forbidden, 0},
		"invalid":              {status(0, metav1.StatusReasonInvalid), reason.Refused, 0},
		"no code at all":       {status(0, ""), reason.ServerError, 0},
		"too new by text":      {errTooNew, reason.TooNew, 0},
		"too new by cause":     {tooNew, reason.TooNew, 0},
		"unreadable":           {status(http.StatusInternalServerError, metav1.StatusReasonStoreReadError), reason.Unreadable, 0},
		"wrapped":              {fmt.Errorf("list: %w", errGone), reason.Expired, 0},
		"bad data":             {&source.DecodeError{Err: source.ErrMalformed}, reason.BadData, 0},
		"transform":            {fmt.Errorf("list: %w", &source.TransformError{Err: errGone}), reason.Transform, 0},
		"cut off":              {&source.DecodeError{Err: io.ErrUnexpectedEOF}, reason.Unreachable, 0},
		"network":              {errors.New("connection refused"), reason.Unreachable, 0},
		"silent":               {fmt.Errorf("watch: %w", &reason.Error{Reason: reason.Silent, Err: errors.New("for 3m")}), reason.Silent, 0},
		"no bookmark":          {&reason.Error{Reason: reason.NoBookmark}, reason.NoBookmark, 0},
		"went back":            {&reason.Error{Reason: reason.WentBack}, reason.WentBack, 0},
		"short watch":          {&reason.Error{Reason: reason.ShortWatch}, reason.ShortWatch, 0},
		"endless list":         {&reason.Error{Reason: reason.EndlessList}, reason.EndlessList, 0},
	} {
		if got, after := reason.Of(tc.err), reason.RetryAfter(tc.err); got != tc.want || after < tc.after || after > tc.after+tc.after/10 {
			t.Errorf("%s: Of() = %v, RetryAfter() = %v, want %v, %v to a tenth more", name, got, after, tc.want, tc.after)
		}
	}
}

func TestLastingReasons(t *testing.T) {
	if got := reason.Of(nil); got != reason.None || got.Lasting() {
		t.Errorf("Of(nil) = %v, want none", got)
	}
	for err, lasting := range map[error]bool{
		statusError(401, 0): true, statusError(403, 0): true, statusError(404, 0): true, errInvalid: true,
		&source.DecodeError{Err: source.ErrWrongKind}: true, &source.TransformError{Err: io.EOF}: true,
		statusError(403, 9): true, &reason.Error{Reason: reason.WatchForbidden, Err: statusError(403, 0)}: false,
		statusError(429, 0): false, errBusy: false, errGone: false, errTooNew: false, io.EOF: false, &reason.Error{Reason: reason.Silent}: false, &reason.Error{Reason: reason.NoBookmark}: false,
	} {
		if r := reason.Of(err); r.Lasting() != lasting {
			t.Errorf("Of(%v) = %v, Lasting() = %v, want %v", err, r, r.Lasting(), lasting)
		}
	}
}

func TestErrorsOfTheReflector(t *testing.T) {
	texts := map[string]bool{}
	for _, r := range []reason.Reason{reason.Silent, reason.NoBookmark, reason.WatchForbidden, reason.WentBack, reason.ShortWatch, reason.EndlessList} {
		plain := &reason.Error{Reason: r}
		detailed := fmt.Errorf("list or watch: %w", &reason.Error{Reason: r, Err: io.EOF})
		joined := errors.Join(errGone, &reason.Error{Reason: reason.Throttled}, detailed)
		if text := plain.Error(); text == r.String() || texts[text] {
			t.Errorf("Error() of %v = %q, want a text of its own", r, text)
		}
		texts[plain.Error()] = true
		if want := "list or watch: " + plain.Error() + ": EOF"; detailed.Error() != want {
			t.Errorf("Error() of %v with details = %q, want %q", r, detailed, want)
		}
		if !errors.Is(joined, plain) || !errors.Is(joined, io.EOF) || errors.Is(joined, &reason.Error{Reason: r, Err: io.EOF}) {
			t.Errorf("%v: errors.Is finds the wrong errors in %q", r, joined)
		}
		if errors.Is(joined, &reason.Error{Reason: reason.Refused}) {
			t.Errorf("%v is found as another reason", r)
		}
	}
	if err := (&reason.Error{Reason: reason.Throttled, Err: errBusy}); err.Error() != "throttled: "+errBusy.Error() || reason.Of(err) != reason.Throttled {
		t.Errorf("Error() of a reason without a text = %q", err)
	}
}

func TestEveryReasonHasAName(t *testing.T) {
	seen := map[string]bool{}
	for r := reason.None; r <= reason.EndlessList; r++ {
		if name := r.String(); name == "" || name == "unknown" || seen[name] {
			t.Errorf("Reason(%d).String() = %q, want a name of its own", r, name)
		}
		seen[r.String()] = true
	}
	if r := reason.Reason(200); r.String() != "unknown" || (reason.EndlessList+1).String() != "unknown" {
		t.Error("String() of an unknown reason is not unknown")
	}
}
