// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// FuzzRefusal: any response of a server or a proxy without objects becomes a StatusError of limited
// length, with a valid Retry-After.
func FuzzRefusal(f *testing.F) {
	for _, body := range []string{
		"", "nope", "<html>", `{"kind":"Status","code":410,"reason":"Expired","message":"too old"}`, `{"kind":"Status","status":"Success"}`, `{"kind":"Status","details":{"retryAfterSeconds":-1}}`,
		"k8s\x00\n\x0c\n\x02v1\x12\x06Status\x12\x0e\x12\x07Failure\x1a\x03x\x00\x28\x9a\x03", strings.Repeat("x\xff", 5000),
	} {
		for _, contentType := range []string{"", "application/json", "application/vnd.kubernetes.protobuf", "text/html; charset=", ";"} {
			f.Add(503, contentType, "7", "", "/login", body)
		}
	}
	f.Add(429, "", "Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 2015 07:27:00 GMT", "", "")
	f.Add(302, "", "-1e400", "x", "\x00", "")
	f.Add(200, "", "NaN", "", "", "")
	f.Fuzz(func(t *testing.T, code int, contentType, retryAfter, date, location, body string) {
		resp := &http.Response{
			StatusCode: code, Body: io.NopCloser(strings.NewReader(body)),
			Header: http.Header{"Content-Type": {contentType}, "Retry-After": {retryAfter}, "Date": {date}, "Location": {location}},
		}
		err := responseError(resp, "list", schema.GroupResource{Resource: "pods"}, "")
		var status *apierrors.StatusError
		if !errors.As(err, &status) {
			t.Fatalf("responseError() = %T %v, want a StatusError", err, err)
		}
		if len(err.Error()) > maxErrorBody+4*maxErrorText {
			t.Errorf("the error has %d bytes", len(err.Error()))
		}
		if seconds := retryAfterSeconds(retryAfter, time.Now()); seconds < 0 {
			t.Errorf("retryAfterSeconds(%q) = %d, want no negative number", retryAfter, seconds)
		}
	})
}
