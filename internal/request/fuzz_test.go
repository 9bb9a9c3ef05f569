// SPDX-License-Identifier: Apache-2.0

package request

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// FuzzParse shows that any HTTP request yields a consistent Request or a refusal.
func FuzzParse(f *testing.F) {
	for _, path := range []string{"/apis/samples.dev/v1/widgets", "/apis/samples.dev/v1/watch/namespaces/a/widgets/one", "/api/v1/namespaces/a"} {
		for _, query := range []string{
			"", "resourceVersion=7&limit=2", "watch=1&allowWatchBookmarks=1&timeoutSeconds=9", "resourceVersion=-1&resourceVersionMatch=Exact",
			"continue=" + nextPage{20, "a/three\x00"}.token(), "labelSelector=app+in+(x)&fieldSelector=spec.node!=n1", "watch=1&sendInitialEvents=0&resourceVersionMatch=NotOlderThan",
		} {
			f.Add("GET", path, query, "application/json;q=0.5, */*")
		}
	}
	f.Fuzz(func(t *testing.T, method, path, query, accept string) {
		req := httptest.NewRequest("GET", "/", nil)
		req.Method, req.URL.Path, req.URL.RawQuery = method, path, query
		req.Header.Set("Accept", accept)
		r, err := parseRequest(req)
		var status *apierrors.StatusError
		switch {
		case errors.Is(err, ErrNoResource):
			return
		case errors.As(err, &status):
			if s := status.ErrStatus; s.Status != "Failure" || s.Code < 400 || s.Message == "" {
				t.Errorf("the refusal is %+v, want a Failure with a code and a message", s)
			}
			return
		case err != nil:
			t.Fatalf("neither a request nor a refusal: %v", err)
		}
		if (r.Verb == Get) != (r.Name != "") || (r.Verb == Get) != (r.Labels == nil) || (r.Verb == Get) != (r.Fields == nil) {
			t.Errorf("only gets have a name, and only lists and watches selectors: got %+v", r)
		}
		if r.Verb != List && (r.Limit != 0 || r.From != "") || r.Verb != Watch && (r.Initial || r.Bookmarks || r.Timeout != 0) {
			t.Errorf("the request has fields of another verb: %+v", r)
		}
		if r.Limit < 0 || r.State.Version != 0 && r.State.Match < NotOlderThan {
			t.Errorf("the limit or the state is invalid: %+v", r)
		}
		if r.From != "" && r.Namespace != "" && !strings.HasPrefix(r.From, r.Namespace+"/") {
			t.Errorf("a list of namespace %s begins at %q", r.Namespace, r.From)
		}
	})
}

// FuzzToken shows that malformed tokens are refused, and others keep their content when written and
// parsed again.
func FuzzToken(f *testing.F) {
	for _, text := range []string{
		"", "%%%", token("{"), token(`{"v":"meta.k8s.io/v1","rv":-1,"start":"/a/b\u0000"}`), token(`{"v":"meta.k8s.io/v1","rv":20,"start":"a/../b"}`),
		nextPage{20, "a/three\x00"}.token(), token(`{"v":"meta.k8s.io/v1","rv":9223372036854775808,"start":"a"}`),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseToken(text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "continue key is not valid") {
				t.Errorf("parseToken(%q): %v", text, err)
			}
			return
		}
		if got.version == 0 || strings.HasPrefix(got.start, "/") || strings.Contains("/"+got.start+"/", "/../") {
			t.Errorf("parseToken(%q) = %+v", text, got)
		}
		if again, err := parseToken(got.token()); got.start != "" && (err != nil || again != got) {
			t.Errorf("%+v is parsed again as %+v, %v", got, again, err)
		}
	})
}

// FuzzReadWrite shows that any write request yields valid options or a refusal.
func FuzzReadWrite(f *testing.F) {
	for _, body := range []string{"", "{}", "null", "[", `{"preconditions":{"uid":"x","resourceVersion":"7"},"dryRun":["All"]}`, `{"kind":"Pod"}`, `{"gracePeriodSeconds":-1,"propagationPolicy":"x"}`} {
		for _, query := range []string{"", "dryRun=All", "dryRun=x&fieldValidation=Strict", "gracePeriodSeconds=x&propagationPolicy=Orphan", "fieldManager=" + strings.Repeat("m", 200)} {
			for verb := range uint8(3) {
				f.Add(verb, query, "application/json", body)
			}
		}
	}
	f.Add(uint8(0), "", "application/json; charset=", "{}")
	f.Add(uint8(2), "", "text/plain", "{}")
	f.Fuzz(func(t *testing.T, verb uint8, query, contentType, body string) {
		const limit = 1000
		r := &Request{Verb: []Verb{Create, Update, Delete}[verb%3]}
		req := httptest.NewRequest("POST", "/", strings.NewReader(body))
		req.URL.RawQuery = query
		req.Header.Set("Content-Type", contentType)
		w, err := r.ReadWrite(req, limit)
		var status *apierrors.StatusError
		switch {
		case errors.As(err, &status):
			if s := status.ErrStatus; s.Status != "Failure" || s.Code < 400 || s.Code >= 500 || s.Message == "" {
				t.Errorf("the refusal is %+v, want a Failure with a 4xx code and a message", s)
			}
			return
		case err != nil:
			t.Fatalf("neither options nor a refusal: %v", err)
		}
		if len(body) > limit || r.Verb != Delete && string(w.Body) != body || r.Verb == Delete && w.Body != nil {
			t.Errorf("a %s body of %d bytes was read as %d bytes", r.Verb, len(body), len(w.Body))
		}
		if v := w.FieldValidation; v != "Ignore" && v != "Warn" && v != "Strict" {
			t.Errorf("FieldValidation is %q", v)
		}
	})
}
