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
	// ErrWrongFormat means an answer in another format than those that were asked for, such as a
	// page of HTML.
	ErrWrongFormat = errors.New("wrong format")
	// ErrWrongKind means an answer or an object of another apiVersion or kind than those that were
	// asked for.
	ErrWrongKind = errors.New("wrong kind")
	// ErrNoName means an object without metadata.name.
	ErrNoName = errors.New("no metadata.name")
	// ErrNoResourceVersion means a list, an object or a bookmark without metadata.resourceVersion,
	// or with "0". No state has the version "0", and a watch from it begins anywhere.
	ErrNoResourceVersion = errors.New("no metadata.resourceVersion")
	// ErrUnknownEvent means a watch event of a type other than ADDED, MODIFIED, DELETED, BOOKMARK
	// and ERROR.
	ErrUnknownEvent = errors.New("unknown type of event")
	// ErrMalformed means a response that is not a list or a sequence of events, although it may be
	// well-formed JSON or CBOR. It also means a response that ends too early.
	ErrMalformed = errors.New("malformed")
)

// DecodeError reports that a response can't be used, and where in the stream. The items before that
// position have been handed over; the item there and those after it have not.
type DecodeError struct {
	// Verb is "list" or "watch".
	Verb string
	// Resource is the resource that was listed or watched.
	Resource schema.GroupVersionResource
	// Item is the number of the object or event that is wrong, counted from 1; 0 means the list
	// itself.
	Item int
	// Offset is where in the decompressed response the error was noticed, in bytes.
	Offset int64
	// Key is the key of the object, as far as it could be read; else the zero Key.
	Key object.Key
	// Err is the reason: one of this package's, or an error of the format's decoder. It is never
	// nil.
	Err error
}

// Error returns one line: the step, the resource, the position, the reason, and what to do. Long
// texts from the server are cut.
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

// isVersion reports whether an object, a list or a bookmark can have this resourceVersion.
func isVersion(resourceVersion string) bool { return resourceVersion != "" && resourceVersion != "0" }

const (
	maxErrorBody  = 64 << 10    // of a refusal; a Status is far smaller
	maxErrorText  = 2 << 10     // of a text of the server that is quoted
	errorPatience = time.Second // for the body of such an answer
)

// shorten cuts a text from the server to the length of a log line.
func shorten(text string) string {
	if len(text) > maxErrorText {
		text = text[:maxErrorText] + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// responseError returns the error for an answer other than 200. It waits a second at most for the
// body.
func responseError(resp *http.Response, verb string, resource schema.GroupResource) error {
	// If reading fails, the bytes before the failure and the status code are enough.
	enough := time.AfterFunc(errorPatience, func() { resp.Body.Close() })
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	enough.Stop()
	// dates of the server are relative to its own clock
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
		message = "" // it is not text
	}
	if message == "" {
		message = "unknown"
	}
	return apierrors.NewGenericServerResponse(resp.StatusCode, verb, resource, "", message, int(retryAfter), true)
}

// parseStatus reads a Status of failure in any format, also in one that wasn't asked for: a Status
// tells more than the status code.
func parseStatus(body []byte, contentType string) (status metav1.Status, ok bool) {
	f, err := parseFormat(contentType)
	if err != nil {
		f = JSON // proxies often send a wrong Content-Type
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

// retryAfterSeconds reads both forms of the header, seconds and date, and rounds up. It returns 0
// if there is none.
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

// TransformError means that an object from the server could not be transformed. A Source that
// transforms returns it from List and Watch; the reflector's Sink then keeps what it has.
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
