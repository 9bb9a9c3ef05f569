// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/informer-gen/informer-gen/server/serve"
)

// TestManyErrorsAreTruncated shows that refusals with many errors are short. apimachinery would
// quote the whole value, or the object's metadata, in each: seconds for 600 errors, minutes for
// 6,000.
func TestManyErrorsAreTruncated(t *testing.T) {
	const many = 600
	var labels strings.Builder
	for i := range many {
		fmt.Fprintf(&labels, `,"!%d":"!"`, i)
	}
	for name, refused := range map[string]struct{ query, body string }{
		"characters of the field manager": {"?fieldManager=" + url.QueryEscape(strings.Repeat("\x01", many)), widgetJSON("one", "", "")},
		"labels":                          {"", widgetJSON("one", `,"labels":{`+labels.String()[1:]+`}`, "")},
	} {
		r := newRig(t, serve.Config{}, true)
		resp := r.send(t, http.MethodPost, widgetsInA+refused.query, refused.body)
		if got := describe(t, resp); resp.StatusCode != http.StatusUnprocessableEntity || len(got) > 64<<10 || !strings.Contains(got, " more") {
			t.Errorf("%d wrong %s: got %d with %d bytes, want 422 with at most 64 KiB: %.300s", many, name, resp.StatusCode, len(got), got)
		}
	}
}
