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

// TestManyErrorsAreToldShortly: apimachinery would quote the whole value, or the object's metadata,
// for each of them, and take seconds for 600 of them, and minutes for 6,000.
func TestManyErrorsAreToldShortly(t *testing.T) {
	const many = 600
	var labels strings.Builder
	for i := range many {
		fmt.Fprintf(&labels, `,"!%d":"!"`, i)
	}
	for what, refused := range map[string]struct{ query, body string }{
		"characters of the field manager": {"?fieldManager=" + url.QueryEscape(strings.Repeat("\x01", many)), written("one", "", "")},
		"labels":                          {"", written("one", `,"labels":{`+labels.String()[1:]+`}`, "")},
	} {
		r := newRig(t, serve.Config{}, true)
		resp := r.send(t, http.MethodPost, inA+refused.query, refused.body)
		if got := describe(t, resp); resp.StatusCode != http.StatusUnprocessableEntity || len(got) > 64<<10 || !strings.Contains(got, " more") {
			t.Errorf("%s: %d, %d bytes: %.300s", what, resp.StatusCode, len(got), got)
		}
	}
}
