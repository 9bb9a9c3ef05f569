// SPDX-License-Identifier: Apache-2.0

package reflector

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

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

func TestClassify(t *testing.T) {
	status := func(code int32, reason metav1.StatusReason) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Code: code, Reason: reason}}
	}
	tooNew := &apierrors.StatusError{ErrStatus: metav1.Status{Code: 504, Reason: metav1.StatusReasonTimeout, Details: &metav1.StatusDetails{
		Causes: []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}, RetryAfterSeconds: 1,
	}}}
	for name, tc := range map[string]struct {
		err   error
		want  Reason
		after time.Duration
	}{
		"400":                  {statusError(400, 0), ReasonRefused, 0},
		"401":                  {statusError(401, 0), ReasonUnauthorized, 0},
		"403":                  {statusError(403, 0), ReasonForbidden, 0},
		"401 with Retry-After": {statusError(401, 5), ReasonUnauthorized, 5 * time.Second},
		"403 with Retry-After": {statusError(403, 5), ReasonForbidden, 5 * time.Second},
		"404 with Retry-After": {statusError(404, 5), ReasonNotFound, 5 * time.Second},
		"422 with Retry-After": {statusError(422, 5), ReasonRefused, 5 * time.Second},
		"403 of a watch":       {fmt.Errorf("%w: %w", ErrWatchForbidden, statusError(403, 5)), ReasonWatchForbidden, 5 * time.Second},
		"404":                  {statusError(404, 0), ReasonNotFound, 0},
		"405":                  {statusError(405, 0), ReasonRefused, 0},
		"409":                  {statusError(409, 0), ReasonRefused, 0},
		"410":                  {statusError(410, 0), ReasonExpired, 0},
		"410 with Retry-After": {statusError(410, 5), ReasonExpired, 0},
		"422":                  {errInvalid, ReasonRefused, 0},
		"429":                  {statusError(429, 0), ReasonThrottled, 0},
		"429 with Retry-After": {statusError(429, 5), ReasonThrottled, 5 * time.Second},
		"500":                  {statusError(500, 0), ReasonServerError, 0},
		"503 with Retry-After": {statusError(503, 2), ReasonThrottled, 2 * time.Second},
		"504":                  {statusError(504, 0), ReasonServerError, 0},
		"expired":              {status(0, metav1.StatusReasonExpired), ReasonExpired, 0},
		"gone":                 {status(0, metav1.StatusReasonGone), ReasonExpired, 0},
		"forbidden":            {status(0, metav1.StatusReasonForbidden), ReasonForbidden, 0},
		"invalid":              {status(0, metav1.StatusReasonInvalid), ReasonRefused, 0},
		"no code at all":       {status(0, ""), ReasonServerError, 0},
		"too new by text":      {errTooNew, ReasonTooNew, 0},
		"too new by cause":     {tooNew, ReasonTooNew, 0},
		"unreadable":           {status(http.StatusInternalServerError, metav1.StatusReasonStoreReadError), ReasonUnreadable, 0},
		"wrapped":              {fmt.Errorf("list: %w", errGone), ReasonExpired, 0},
		"bad data":             {&source.DecodeError{Err: source.ErrNoName}, ReasonBadData, 0},
		"transform":            {fmt.Errorf("list: %w", &TransformError{Err: errGone}), ReasonTransform, 0},
		"cut off":              {&source.DecodeError{Err: io.ErrUnexpectedEOF}, ReasonUnreachable, 0},
		"network":              {errors.New("connection refused"), ReasonUnreachable, 0},
		"silent":               {fmt.Errorf("%w: for 3m", ErrSilent), ReasonSilent, 0},
		"no bookmark":          {ErrNoBookmark, ReasonNoBookmark, 0},
		"went back":            {ErrWentBack, ReasonWentBack, 0},
		"short watch":          {ErrShortWatch, ReasonShortWatch, 0},
		"endless list":         {ErrEndlessList, ReasonEndlessList, 0},
	} {
		if got, after := classify(tc.err); got != tc.want || after != tc.after {
			t.Errorf("%s: got %v after %v, want %v after %v", name, got, after, tc.want, tc.after)
		}
	}
}

func TestReasonOf(t *testing.T) {
	if got := ReasonOf(nil); got != ReasonNone || got.Lasting() {
		t.Errorf("no error is %v", got)
	}
	for err, lasting := range map[error]bool{
		statusError(401, 0): true, statusError(403, 0): true, statusError(404, 0): true, errInvalid: true,
		&source.DecodeError{Err: source.ErrWrongKind}: true, &TransformError{Err: io.EOF}: true,
		statusError(403, 9): true, fmt.Errorf("%w: %w", ErrWatchForbidden, statusError(403, 0)): false,
		statusError(429, 0): false, errBusy: false, errGone: false, errTooNew: false, io.EOF: false, ErrSilent: false, ErrNoBookmark: false,
	} {
		if reason := ReasonOf(err); reason.Lasting() != lasting {
			t.Errorf("%v: %v.Lasting() is %v", err, reason, reason.Lasting())
		}
	}
}

func TestRetryAfter(t *testing.T) {
	for err, want := range map[error]time.Duration{statusError(429, 10): 10 * time.Second, statusError(429, 0): 0, statusError(410, 10): 0, io.EOF: 0} {
		if got := (Backoff{}).RetryAfter(err); got < want || got > want+want/10 {
			t.Errorf("%v: %v, want %v and at most a tenth", err, got, want)
		}
	}
}

// TestARetryAfterOfYearsIsCapped shows the limit, Backoff.MaxRetryAfter, which is 5 minutes unless
// set.
func TestARetryAfterOfYearsIsCapped(t *testing.T) {
	years := statusError(503, math.MaxInt32)
	for b, want := range map[Backoff]time.Duration{{}: 5 * time.Minute, {MaxRetryAfter: time.Second}: time.Second, {MaxRetryAfter: time.Hour}: time.Hour} {
		if got := b.RetryAfter(years); got < want || got > want+want/10 {
			t.Errorf("%+v: %v, want %v and at most a tenth", b, got, want)
		}
	}
	if err := (Tuning{Backoff: Backoff{MaxRetryAfter: -1}}).Validate(); err == nil {
		t.Error("a negative MaxRetryAfter is taken")
	}
}

func TestTransformError(t *testing.T) {
	err := &TransformError{Key: object.Key{Namespace: "shop", Name: "blue"}, Err: io.ErrNoProgress}
	if want := "transform shop/blue: " + io.ErrNoProgress.Error(); err.Error() != want || !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("got %q, want %q", err, want)
	}
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for r := ReasonNone; int(r) < len(reasonNames); r++ {
		if name := r.String(); name == "" || seen[name] {
			t.Errorf("reason %d is called %q", r, name)
		}
		seen[r.String()] = true
	}
	for s := StateStopped; int(s) < len(stateNames); s++ {
		if name := s.String(); name == "" || seen[name] {
			t.Errorf("state %d is called %q", s, name)
		}
		seen[s.String()] = true
	}
	if Reason(200).String() != "unknown" || State(200).String() != "unknown" {
		t.Error("values outside of the sets have names")
	}
}
