// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/placement"
	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// textOf returns a request as text: "METHOD path?query type body".
func textOf(req *http.Request) string {
	text := req.Method + " " + req.URL.RequestURI()
	if req.Body != nil {
		body, _ := io.ReadAll(req.Body)
		text += " " + req.Header.Get("Content-Type") + " " + string(body)
	}
	return text
}

// TestDoRequests: the address comes from the key and the subresource. Only a request with a content
// type has a body.
func TestDoRequests(t *testing.T) {
	node := object.Key{Name: "node-7"}
	blue := object.Key{Namespace: "shop", Name: "blue"}
	plain, err := json.Marshal(&corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}})
	noError(t, err)
	var got string
	c := newTestClient(t, func(req *http.Request) (*http.Response, error) {
		got = textOf(req)
		return answer(200, podtest.KindPod("blue", "7")), nil
	})
	s := sourceOf[*corev1.Pod](t, c, pods, Options{Namespace: "ignored", LabelSelector: "so=is-this", Formats: []Format{JSON}})
	for _, tc := range []struct {
		req  Request
		want string
	}{
		{Request{Method: "GET", Key: blue}, "GET /api/v1/namespaces/shop/pods/blue"},
		{Request{Method: "GET", Key: node, Query: url.Values{"pretty": {"a b"}}}, "GET /api/v1/pods/node-7?pretty=a+b"},
		{Request{Method: "PUT", Key: blue, Subresource: "status", Object: &corev1.Pod{}}, "PUT /api/v1/namespaces/shop/pods/blue/status application/json " + string(plain)},
		{Request{Method: "POST", Key: object.Key{Namespace: "shop"}, Object: &corev1.Pod{}}, "POST /api/v1/namespaces/shop/pods application/json " + string(plain)},
		{Request{Method: "PATCH", Key: blue, Body: []byte("{}"), ContentType: "application/merge-patch+json"}, "PATCH /api/v1/namespaces/shop/pods/blue application/merge-patch+json {}"},
		{Request{Method: "DELETE", Key: blue, Body: []byte("not sent")}, "DELETE /api/v1/namespaces/shop/pods/blue"},
	} {
		obj, err := s.Do(context.Background(), tc.req)
		if err != nil || got != tc.want || obj.Name != "blue" || obj.Kind != "Pod" {
			t.Errorf("Do sent %s\nwant    %s\nand returned %+v, %v", got, tc.want, obj, err)
		}
	}
}

// TestDoInEveryFormat: Do decodes the response in the server's format.
func TestDoInEveryFormat(t *testing.T) {
	for _, f := range everyFormat {
		body := podtest.Encode(t, f, podtest.LargeObject(t, 1))
		for _, status := range []int{200, 201, 202} {
			s := sourceOf[*corev1.Pod](t, newTestClient(t, func(*http.Request) (*http.Response, error) {
				return answer(status, string(body), "Content-Type", f.mediaType()), nil
			}), pods, Options{Formats: everyFormat})
			got, err := s.Do(context.Background(), Request{Method: "GET", Key: object.Key{Name: "x"}})
			if err != nil || got.Name == "" || len(got.Spec.Containers) == 0 {
				t.Errorf("Do() in %v with status %d = %+v, %v", f, status, got, err)
			}
		}
		done := podtest.Encode(t, f, &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess})
		if got, err := serveIn[*corev1.Pod](t, f, done, Options{}).Do(context.Background(), Request{Method: "DELETE", Key: object.Key{Name: "x"}}); got != nil || err != nil {
			t.Errorf("Do() in %v for a Status of success = %+v, %v, want nil, nil", f, got, err)
		}
	}
}

// TestDoReturnsACopy: the returned object shares no parts, unlike objects of streams.
func TestDoReturnsACopy(t *testing.T) {
	s := serve(t, podtest.WithKind(podtest.Large(1)))
	get := func() *corev1.Pod {
		p, err := s.Do(context.Background(), Request{Method: "GET", Key: object.Key{Name: "blue"}})
		noError(t, err)
		return p
	}
	first := get()
	if len(first.Spec.Containers) == 0 {
		t.Fatal("the Pod has no containers")
	}
	for i := range first.Spec.Containers {
		first.Spec.Containers[i].Image = "changed"
	}
	for i, c := range get().Spec.Containers {
		if c.Image == "changed" {
			t.Errorf("container %d has the image of another object", i)
		}
	}
}

func TestDoRefusesInvalidRequests(t *testing.T) {
	s := sourceOf[*corev1.Pod](t, newTestClient(t, func(*http.Request) (*http.Response, error) {
		t.Error("Do has sent a request")
		return nil, io.EOF
	}), pods, Options{})
	blue := object.Key{Namespace: "shop", Name: "blue"}
	for want, req := range map[string]Request{
		`the method is "HEAD"`:                {Method: "HEAD", Key: blue},
		"the key has no name":                 {Method: "GET"},
		`the name "../x" can't be part`:       {Method: "GET", Key: object.Key{Name: "../x"}},
		`the namespace "a?b" can't be part`:   {Method: "GET", Key: object.Key{Namespace: "a?b", Name: "x"}},
		`the subresource "a/b" can't be part`: {Method: "GET", Key: blue, Subresource: "a/b"},
		"the object is a nil *v1.Pod":         {Method: "PUT", Key: blue, Object: (*corev1.Pod)(nil)},
		`objects can't be encoded as "x/y"`:   {Method: "PUT", Key: blue, Object: &corev1.Pod{}, ContentType: "x/y"},
	} {
		if _, err := s.Do(context.Background(), req); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Do() = %v, want %q", err, want)
		}
	}
	var none context.Context
	if _, err := s.Do(none, Request{Method: "GET", Key: blue}); err == nil {
		t.Error("Do(nil, …) has no error")
	}
}

// TestDoReportsConnectionErrors: they name the step and the object.
func TestDoReportsConnectionErrors(t *testing.T) {
	broken := errors.New("broken")
	blue := object.Key{Namespace: "shop", Name: "blue"}
	for want, serve := range map[string]roundTrip{
		"update pods/v1 (shop/blue): ": func(*http.Request) (*http.Response, error) { return nil, broken },
		"update pods/v1 (shop/blue): reading the response: ": func(*http.Request) (*http.Response, error) {
			resp := answer(200, "")
			resp.Body = io.NopCloser(brokenReader{broken})
			return resp, nil
		},
	} {
		s := sourceOf[*corev1.Pod](t, newTestClient(t, serve), pods, Options{})
		obj, err := s.Do(context.Background(), Request{Method: "PUT", Key: blue, Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "blue"}}})
		if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), want) || obj != nil {
			t.Errorf("Do() = %v, want %q…", err, want)
		}
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(why)
		if _, err := s.Do(ctx, Request{Method: "GET", Key: blue}); err != why {
			t.Errorf("Do() with a done context = %v, want %v", err, why)
		}
	}
}

// TestDoNamesRefusedRequests: by verb, resource and object, once.
func TestDoNamesRefusedRequests(t *testing.T) {
	const conflict = `Operation cannot be fulfilled on pods "blue": the object has been modified`
	named := `,"details":{"name":"blue","kind":"pods"}`
	blue := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "blue"}}
	put := Request{Method: "PUT", Key: object.KeyOf(blue), Object: blue}
	putStatus := put
	putStatus.Subresource = "status"
	post := Request{Method: "POST", Key: object.Key{Namespace: "shop"}, Object: blue}
	unnamed := Request{Method: "POST", Key: object.Key{Namespace: "shop"}, Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", GenerateName: "blue-"}}}
	remove := Request{Method: "DELETE", Key: object.KeyOf(blue)}
	for _, tc := range []struct {
		req                    Request
		message, details, want string
	}{
		{put, "etcdserver: request timed out", "", "update pods/v1 (shop/blue): etcdserver: request timed out"},
		{putStatus, "because", "", "update the status of pods/v1 (shop/blue): because"},
		{putStatus, "because", named, "update the status of pods/v1 (shop/blue): because"},
		{remove, "because", `,"details":{"retryAfterSeconds":1}`, "delete pods/v1 (shop/blue): because"},
		{unnamed, "wait a second", `,"details":{"retryAfterSeconds":1}`, "create pods/v1 (shop/): wait a second"},
		{post, `namespaces "shop" not found`, `,"details":{"name":"shop","kind":"namespaces"}`, `create pods/v1 (shop/blue): namespaces "shop" not found`},
		{putStatus, conflict, named, conflict},
		{put, `Pod "blue" is invalid: spec`, `,"details":{"name":"blue","kind":"Pod"}`, `Pod "blue" is invalid: spec`},
		{put, `widgets.samples.io "blue" is late`, `,"details":{"name":"blue","kind":"widgets","group":"samples.io"}`, `widgets.samples.io "blue" is late`},
	} {
		message, err := json.Marshal(tc.message)
		noError(t, err)
		body := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","code":409,"message":%s%s}`, message, tc.details)
		s := sourceOf[*corev1.Pod](t, newTestClient(t, func(*http.Request) (*http.Response, error) { return answer(409, body), nil }), pods, Options{})
		obj, err := s.Do(t.Context(), tc.req)
		var refused *apierrors.StatusError
		if obj != nil || !errors.As(err, &refused) || refused.ErrStatus.Message != tc.message || !apierrors.IsConflict(err) {
			t.Errorf("Do() = %+v, %v, want a conflict", obj, err)
		}
		if err == nil || err.Error() != tc.want {
			t.Errorf("Do() = %v, want %s", err, tc.want)
		}
	}
	plain := sourceOf[*corev1.Pod](t, newTestClient(t, func(*http.Request) (*http.Response, error) {
		return answer(500, "oops", "Content-Type", "text/plain"), nil
	}), pods, Options{})
	want := `an error on the server ("oops") has prevented the request from succeeding (put pods blue)`
	if _, err := plain.Do(t.Context(), put); err == nil || err.Error() != want {
		t.Errorf("Do() = %v, want %s", err, want)
	}
	broken := sourceOf[*corev1.Pod](t, newTestClient(t, func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }), pods, Options{})
	want = "update the status of pods/v1 (shop/blue): "
	if _, err := broken.Do(t.Context(), putStatus); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Do() = %v, want %s…", err, want)
	}
}

type brokenReader struct{ err error }

func (r brokenReader) Read([]byte) (int, error) { return 0, r.err }

// TestProjectionsAreNotWritten: a write would remove fields that a projection lacks. Patches are
// allowed, and their responses are decoded as projections.
func TestProjectionsAreNotWritten(t *testing.T) {
	requests := 0
	c := newTestClient(t, func(*http.Request) (*http.Response, error) {
		requests++
		return answer(200, podtest.KindPod("blue", "7")), nil
	})
	s := sourceOf[*placement.PodPlacement](t, c, pods, Options{})
	blue := object.Key{Namespace: "ns", Name: "blue"}
	slim := &placement.PodPlacement{PodPlacementMeta: placement.PodPlacementMeta{Name: "blue", Namespace: "ns"}}
	for _, req := range []Request{
		{Method: "PUT", Key: blue, Object: slim},
		{Method: "POST", Key: object.Key{Namespace: "ns"}, Object: slim},
		{Method: "PATCH", Key: blue, Object: slim, ContentType: "application/apply-patch+yaml"},
	} {
		if _, err := s.Do(t.Context(), req); err == nil || !strings.Contains(err.Error(), "PodPlacement lacks fields") {
			t.Errorf("Do(%s) = %v, want an error about missing fields", req.Method, err)
		}
	}
	if requests != 0 {
		t.Errorf("%d requests were sent, want none", requests)
	}
	got, err := s.Do(t.Context(), Request{Method: "PATCH", Key: blue, Body: []byte("{}"), ContentType: "application/merge-patch+json"})
	if err != nil || got.Name != "blue" || got.Kind != "Pod" {
		t.Errorf("Do(PATCH) = %+v, %v", got, err)
	}
}

// TestWriteDoesNotFollowRedirectToGet: net/http turns some redirected writes into a GET, whose
// response would look like the write's.
func TestWriteDoesNotFollowRedirectToGet(t *testing.T) {
	blue := object.Key{Namespace: "shop", Name: "blue"}
	for code, followed := range map[int]bool{301: false, 302: false, 303: false, 307: true, 308: true} {
		for _, method := range []string{"GET", "PUT", "PATCH", "DELETE"} {
			var all []string
			s := sourceOf[*corev1.Pod](t, newTestClient(t, func(req *http.Request) (*http.Response, error) {
				all = append(all, textOf(req))
				if req.URL.Host == "api.test" {
					return answer(code, "", "Location", "http://other.test"+req.URL.RequestURI()), nil
				}
				return answer(200, podtest.KindPod("blue", "7")), nil
			}), pods, Options{Formats: []Format{JSON}})
			req := Request{Method: method, Key: blue}
			if method != "GET" {
				req.Body, req.ContentType = []byte("{}"), "application/json"
			}
			_, err := s.Do(context.Background(), req)
			if followed || method == "GET" {
				if err != nil || len(all) != 2 || all[0] != all[1] {
					t.Errorf("%s redirected with %d: requests %q, error %v", method, code, all, err)
				}
				continue
			}
			var refused *apierrors.StatusError
			if len(all) != 1 || !errors.As(err, &refused) || refused.ErrStatus.Code != int32(code) || !strings.Contains(err.Error(), "http://other.test/api/v1") {
				t.Errorf("%s redirected with %d: requests %q, error %v", method, code, all, err)
			}
		}
	}
}

// TestDoWithoutManagedFields: a server that refuses the parameter, or the format of the object, is
// sent the request again.
func TestDoWithoutManagedFields(t *testing.T) {
	var got []string
	s := sourceOf[*corev1.Pod](t, newTestClient(t, func(req *http.Request) (*http.Response, error) {
		accept, contentType := req.Header.Get("Accept"), req.Header.Get("Content-Type")
		got = append(got, contentType+" for "+accept)
		switch {
		case strings.Contains(accept, "drop"):
			return answer(http.StatusNotAcceptable, "no"), nil
		case contentType != "application/json":
			return answer(http.StatusUnsupportedMediaType, "no"), nil
		}
		return answer(200, podtest.KindPod("blue", "7")), nil
	}), pods, Options{DropManagedFields: true})
	const protobuf = "application/vnd.kubernetes.protobuf"
	_, err := s.Do(t.Context(), Request{Method: "PUT", Key: object.Key{Namespace: "shop", Name: "blue"}, Object: &corev1.Pod{}})
	noError(t, err)
	want := []string{
		protobuf + " for " + protobuf + ";drop=metadata.managedFields,application/json;drop=metadata.managedFields;q=0.9",
		protobuf + " for " + protobuf + ",application/json;q=0.9",
		"application/json for application/json",
	}
	if !slices.Equal(got, want) {
		t.Errorf("Do sent\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
