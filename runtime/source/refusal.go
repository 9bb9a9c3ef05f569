// SPDX-License-Identifier: Apache-2.0

package source

import (
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/internal/decode"
)

const (
	maxErrorBody     = 64 << 10    // of a refusal; a Status is far smaller
	maxErrorText     = 2 << 10     // of a quoted text of the server
	errorBodyTimeout = time.Second // for the body of a refusal
)

func shorten(text string) string {
	if len(text) > maxErrorText {
		text = text[:maxErrorText] + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// responseError returns the error for an unsuccessful answer. It waits at most a second for the
// body. name is "" for a list or watch.
func responseError(resp *http.Response, verb string, resource schema.GroupResource, name string) *apierrors.StatusError {
	// If reading fails, the bytes before the failure and the status code are enough.
	timer := time.AfterFunc(errorBodyTimeout, func() { resp.Body.Close() })
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	timer.Stop()
	// the server's dates are relative to its own clock
	now, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	retryAfter := retryAfterSeconds(resp.Header.Get("Retry-After"), now)

	if status, ok := parseStatus(body, resp.Header.Get("Content-Type")); ok {
		if status.Code == 0 {
			status.Code = int32(resp.StatusCode)
		}
		if retryAfter > 0 {
			if status.Details == nil {
				status.Details = &metav1.StatusDetails{Group: resource.Group, Kind: resource.Resource}
			}
			if status.Details.RetryAfterSeconds == 0 {
				status.Details.RetryAfterSeconds = retryAfter
			}
		}
		return &apierrors.StatusError{ErrStatus: status}
	}
	message := strings.TrimSpace(shorten(string(body)))
	if f, err := parseFormat(resp.Header.Get("Content-Type")); err == nil && f != JSON {
		message = "" // not text
	}
	if message == "" {
		message = "unknown"
	}
	refused := apierrors.NewGenericServerResponse(resp.StatusCode, verb, resource, name, message, int(retryAfter), true)
	if to := resp.Header.Get("Location"); to != "" && resp.StatusCode >= 300 && resp.StatusCode < 400 {
		refused.ErrStatus.Message += ", except that it redirects to " + shorten(to)
	}
	return refused
}

// refersTo reports whether the text of a refusal names the object already, as in
// `pods "blue" not found`.
func refersTo(refused *apierrors.StatusError, name string) bool {
	d := refused.ErrStatus.Details
	if d == nil || d.Kind == "" || d.Name != name {
		return false
	}
	what, text := schema.GroupResource{Group: d.Group, Resource: d.Kind}.String(), refused.ErrStatus.Message
	return strings.Contains(text, what+" "+strconv.Quote(name)) || strings.Contains(text, what+" "+name)
}

// parseStatus reads a Status of failure in any format, even one that was not asked for, because it
// says more than the status code.
func parseStatus(body []byte, contentType string) (status metav1.Status, ok bool) {
	f, err := parseFormat(contentType)
	if err != nil {
		f = JSON // proxies often send a wrong Content-Type
	}
	status, err = decode.Format(f).Status(body)
	return status, err == nil && status.Kind == "Status" && status.Status != metav1.StatusSuccess
}

// retryAfterSeconds reads both forms of the header, seconds and date, and rounds up. It returns 0
// for an empty or invalid one.
func retryAfterSeconds(header string, now time.Time) int32 {
	header = strings.TrimSpace(header)
	if header == "" {
		return 0
	}
	seconds, err := strconv.ParseFloat(header, 64)
	if err != nil {
		at, err := http.ParseTime(header)
		if err != nil {
			return 0
		}
		seconds = at.Sub(now).Seconds()
	}
	switch {
	case math.IsNaN(seconds) || seconds <= 0:
		return 0
	case seconds > math.MaxInt32:
		return math.MaxInt32
	}
	return int32(math.Ceil(seconds))
}
