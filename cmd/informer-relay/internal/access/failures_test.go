// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus/testutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/cmd/informer-relay/internal/configfile"
)

// TestFailuresAreLoggedOncePerInterval lets reviews fail for two minutes, for two reasons. All
// failures are counted, and few are logged.
func TestFailuresAreLoggedOncePerInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReviewer()
		code := http.StatusInternalServerError
		r.fail = func(string) (int, string) { return code, "" }
		a := newAccess(t, configfile.Access{Mode: configfile.TokenReview}, r)
		var lines []string
		logger := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
		ctx := klog.NewContext(contextOf(t, a, bearer("ann"), nil), logger)
		for second := range 121 {
			code = http.StatusInternalServerError
			if second%10 == 9 {
				code = http.StatusTooManyRequests
			}
			if err := a.Authorize(ctx, listShop); statusOf(err).Code != http.StatusServiceUnavailable {
				t.Fatalf("got %v, want 503", err)
			}
			time.Sleep(time.Second) // in a bubble
		}
		for reason, want := range map[string]float64{"500": 109, "429": 12} {
			if got := testutil.ToFloat64(a.counters.failures.WithLabelValues(reason)); got != want {
				t.Errorf("the counter for the reason %s is %v, want %v", reason, got, want)
			}
		}
		want := []string{`"reason"="500" "unlogged"=0`, `"reason"="429" "unlogged"=0`, `"reason"="500" "unlogged"=53`, `"reason"="429" "unlogged"=5`, `"reason"="500" "unlogged"=53`}
		if len(lines) != len(want) {
			t.Fatalf("got the log\n%s\nwant %d lines", strings.Join(lines, "\n"), len(want))
		}
		for i, line := range lines {
			if !strings.HasSuffix(line, want[i]) {
				t.Errorf("line %d is %s, want %s", i, line, want[i])
			}
		}
	})
}

func TestReasonOf(t *testing.T) {
	refused := &url.Error{Op: "Post", URL: "https://api", Err: errors.New("connection refused")}
	for want, err := range map[string]error{
		"403":        fmt.Errorf("POST: %w", apierrors.NewForbidden(pods.GroupResource(), "", nil)),
		"timeout":    &url.Error{Op: "Post", URL: "https://api", Err: context.DeadlineExceeded},
		"connection": refused,
		"limited":    fmt.Errorf("%w: 512 wait", errTooMany),
		"undecided":  fmt.Errorf("%w: webhook", errUndecided),
		"malformed":  errors.New("decoding the answer: unexpected end of JSON input"),
	} {
		if got := reasonOf(err); got != want {
			t.Errorf("reasonOf(%v) = %q, want %q", err, got, want)
		}
	}
}
