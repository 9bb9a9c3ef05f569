// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// The reasons of a DecodeError other than errors of the formats' decoders. errors.Is finds them.
var (
	// ErrWrongFormat is an answer in another format than those that were asked for, such as a page
	// of HTML.
	ErrWrongFormat = errors.New("wrong format")
	// ErrWrongKind is an answer or an object of another apiVersion or kind than what was asked for.
	ErrWrongKind = errors.New("wrong kind")
	// ErrNoName is an object without metadata.name.
	ErrNoName = errors.New("no metadata.name")
	// ErrNoResourceVersion is a list, an object or a bookmark without metadata.resourceVersion, or
	// with "0": nothing stands at that version, and a watch that asks for it begins anywhere.
	ErrNoResourceVersion = errors.New("no metadata.resourceVersion")
	// ErrUnknownEvent is a watch event of a type other than ADDED, MODIFIED, DELETED, BOOKMARK and
	// ERROR.
	ErrUnknownEvent = errors.New("unknown type of event")
	// ErrMalformed is a response that is not a list or a sequence of events, although perhaps
	// well-formed JSON or CBOR, and one that ends too early.
	ErrMalformed = errors.New("malformed")
)

// DecodeError says that what the server sent can't be used, and where in the stream that is. The
// items before it have been handed over, it and the ones after it have not.
type DecodeError struct {
	// Verb is "list" or "watch".
	Verb string
	// Resource is what was listed or watched.
	Resource schema.GroupVersionResource
	// Item is the position in the stream of the object or event that is wrong, counted from 1; 0
	// means the list itself.
	Item int
	// Offset is the number of bytes of the response, decompressed, before the place where the error
	// was noticed.
	Offset int64
	// Key is that of the object, as far as it could be read; the zero Key otherwise.
	Key object.Key
	// Err is the reason: one of this package's, or an error of the format's decoder. It is never
	// nil.
	Err error
}

// Error returns one line: the step, the resource, the position, the reason, and what to do. It is
// cut where the server has sent more than a person would read.
func (e *DecodeError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: ", e.Verb, describe(e.Resource))
	if e.Item > 0 {
		what := "item"
		if e.Verb == "watch" {
			what = "event"
		}
		fmt.Fprintf(&b, "%s %d ", what, e.Item)
		switch {
		case e.Key.Name != "":
			fmt.Fprintf(&b, "(%s) ", e.Key)
		case e.Key.Namespace != "":
			fmt.Fprintf(&b, "(in namespace %s) ", e.Key.Namespace)
		}
	}
	fmt.Fprintf(&b, "at byte %d: %s", e.Offset, shorten(e.Err.Error()))
	return b.String()
}

// Unwrap returns Err.
func (e *DecodeError) Unwrap() error { return e.Err }

// isVersion reports whether an object, a list or a bookmark can be at a resourceVersion.
func isVersion(resourceVersion string) bool { return resourceVersion != "" && resourceVersion != "0" }

const (
	maxErrorBody  = 64 << 10    // of an answer that refuses; a Status is far smaller
	maxErrorText  = 2 << 10     // of what is quoted of the server's
	errorPatience = time.Second // for the body of such an answer
)

// shorten cuts a text of the server's to the length of a log line.
func shorten(text string) string {
	if len(text) > maxErrorText {
		text = text[:maxErrorText] + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// responseError makes the error of an answer that is not 200. It waits a second at most for the
// answer's body.
func responseError(resp *http.Response, verb string, resource schema.GroupResource) error {
	// A failed read leaves what came before it, and the status code speaks for itself.
	enough := time.AfterFunc(errorPatience, func() { resp.Body.Close() })
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	enough.Stop()
	// the server's clock, by which it has chosen the date below
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
		message = "" // bytes
	}
	if message == "" {
		message = "unknown"
	}
	return apierrors.NewGenericServerResponse(resp.StatusCode, verb, resource, "", message, int(retryAfter), true)
}

// parseStatus reads a Status of failure in any format. Whether it was asked for does not matter: it
// says more than its number.
func parseStatus(body []byte, contentType string) (status metav1.Status, ok bool) {
	f, err := parseFormat(contentType)
	if err != nil {
		f = JSON // servers in between often get it wrong
	}
	switch f {
	case Protobuf:
		var e envelope
		if e, err = parseEnvelope(body); err == nil {
			status, err = e.status()
		}
	case CBOR:
		status, err = cborStatus(body)
	default:
		err = json.Unmarshal(body, &status, typedOptions)
	}
	return status, err == nil && status.Kind == "Status" && status.Status != metav1.StatusSuccess
}

// retryAfterSeconds reads both forms of the header, seconds and date, and rounds up. 0 means that
// there is none.
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
