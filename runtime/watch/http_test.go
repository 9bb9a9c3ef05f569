// SPDX-License-Identifier: Apache-2.0

package watch_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/watch"
)

// answers is a server without a socket: the n-th request gets the n-th body.
type answers struct {
	t       *testing.T
	bodies  []string
	queries []string
}

func (a *answers) RoundTrip(req *http.Request) (*http.Response, error) {
	q := req.URL.Query()
	q.Del("timeoutSeconds")
	a.queries = append(a.queries, q.Encode())
	if len(a.queries) > len(a.bodies) {
		a.t.Errorf("unexpected request %s", q.Encode())
		return nil, io.ErrUnexpectedEOF
	}
	body := a.bodies[len(a.queries)-1]
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
}

// TestUntilOverHTTP has an HTTP source with two connections: the first one has a bookmark and ends
// with an ERROR event.
func TestUntilOverHTTP(t *testing.T) {
	event := func(typ string, version int, labels string) string {
		return fmt.Sprintf(`{"type":%q,"object":{"kind":"Thing","apiVersion":"test.io/v1","metadata":{"name":"a","resourceVersion":"%d","labels":{%s}}}}`+"\n", typ, version, labels)
	}
	server := &answers{t: t, bodies: []string{
		event("MODIFIED", 43, "") + event("BOOKMARK", 50, "") + `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","code":500}}`,
		event("MODIFIED", 51, `"ready":"yes"`) + event("DELETED", 52, ""),
	}}
	synctest.Test(t, func(t *testing.T) {
		client, err := source.NewClient(&rest.Config{Host: "http://api.test", Transport: server})
		if err != nil {
			t.Fatal(err)
		}
		src, err := source.New[thing](client, schema.GroupVersionResource{Group: "test.io", Version: "v1", Resource: "things"}, source.Options{})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		last, err := watch.Until(t.Context(), src, "42", steady, func(e source.Event[thing]) (bool, error) { return e.Object.Labels["ready"] == "yes", nil })
		if err != nil || last.ResourceVersion != "51" || time.Since(start) != 800*time.Millisecond {
			t.Errorf("Until() = %+v, %v after %v", last, err, time.Since(start))
		}
		if got, want := strings.Join(server.queries, " "), "allowWatchBookmarks=true&resourceVersion=42&watch=true allowWatchBookmarks=true&resourceVersion=50&watch=true"; got != want {
			t.Errorf("queries %s\nwant    %s", got, want)
		}
	})
}
