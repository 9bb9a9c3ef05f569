// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
	"github.com/informer-gen/informer-gen/runtime/object"
)

var everyFormat = []Format{JSON, Protobuf}

func TestAcceptHeader(t *testing.T) {
	for _, tc := range []struct {
		formats []Format
		as      string
		drop    bool
		want    string
	}{
		{[]Format{JSON}, "", false, "application/json"},
		{[]Format{JSON}, "", true, "application/json;drop=metadata.managedFields"},
		{[]Format{JSON, Protobuf}, "", false, "application/json,application/vnd.kubernetes.protobuf;q=0.9"},
		{[]Format{Protobuf, JSON}, "", true, "application/vnd.kubernetes.protobuf;drop=metadata.managedFields,application/json;drop=metadata.managedFields;q=0.9"},
		{[]Format{Protobuf}, "PartialObjectMetadata", false, "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"},
		{
			[]Format{Protobuf, JSON}, "PartialObjectMetadataList", false,
			"application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1," +
				"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1;q=0.9,application/json;q=0.8",
		},
	} {
		if got := acceptHeader(tc.formats, tc.as, tc.drop); got != tc.want {
			t.Errorf("acceptHeader(%v, %q, %v) = %s\nwant %s", tc.formats, tc.as, tc.drop, got, tc.want)
		}
	}
}

// TestDefaultFormats: protobuf comes first if the Go type has it.
func TestDefaultFormats(t *testing.T) {
	for name, tc := range map[string]struct {
		newObject func() object.Object
		want      string
	}{
		"with protobuf": {newPod, "application/vnd.kubernetes.protobuf,application/json;q=0.9"},
		"without":       {newUntyped, "application/json"},
	} {
		s := sourceOf[object.Object](t, newTestClient(t, nil), pods, Options{NewObject: tc.newObject})
		if _, accept := s.c.accept("list"); accept != tc.want {
			t.Errorf("Accept of a type %s is %s, want %s", name, accept, tc.want)
		}
	}
}

// TestContentTypeSetsTheFormat: the header sets the format, which must be a requested one.
func TestContentTypeSetsTheFormat(t *testing.T) {
	for _, tc := range []struct {
		contentType string
		formats     []Format
		want        Format // 0: an error
		text        string
	}{
		{"application/json", []Format{Protobuf, JSON}, JSON, ""},
		{"application/json;stream=watch", []Format{JSON}, JSON, ""},
		{"Application/JSON; charset=utf-8", []Format{JSON}, JSON, ""},
		{"", []Format{Protobuf, JSON}, JSON, ""},
		{"application/vnd.kubernetes.protobuf;stream=watch", []Format{Protobuf}, Protobuf, ""},
		{"application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", []Format{Protobuf, JSON}, Protobuf, ""},
		{"application/vnd.kubernetes.protobuf", []Format{JSON}, 0, "not asked for; want application/json"},
		{"text/html", []Format{Protobuf, JSON}, 0, "want application/vnd.kubernetes.protobuf or application/json"},
		{"application/json", []Format{Protobuf}, 0, "not asked for"},
		{"", []Format{Protobuf}, 0, "not asked for"},
		{"text/html; charset=utf-8", []Format{JSON}, 0, "is this the address of a Kubernetes API?"},
		{"application/yaml", []Format{JSON}, 0, `"application/yaml"`},
		{"///", []Format{JSON}, 0, "not a media type"},
	} {
		got, err := formatOf(tc.contentType, tc.formats)
		if got != tc.want || (err == nil) != (tc.want != 0) {
			t.Errorf("formatOf(%q) = %v, %v, want %v", tc.contentType, got, err, tc.want)
		}
		if err != nil && (!errors.Is(err, ErrWrongFormat) || !strings.Contains(err.Error(), tc.text)) {
			t.Errorf("formatOf(%q) = %v, want …%s…", tc.contentType, err, tc.text)
		}
	}
}

func TestResponseInAWrongFormat(t *testing.T) {
	s := serveIn[*corev1.Pod](t, Protobuf, nil, Options{Formats: []Format{JSON}})
	_, _, listErr := listAll(s)
	_, watchErr := watchAll(s)
	for _, err := range []error{listErr, watchErr} {
		var decode *DecodeError
		if !errors.As(err, &decode) || !errors.Is(err, ErrWrongFormat) || decode.Item != 0 || decode.Offset != 0 {
			t.Errorf("got %v, want a *DecodeError at the beginning", err)
		}
	}
}

func TestNewRefusesInvalidFormats(t *testing.T) {
	c := newTestClient(t, nil)
	for name, err := range map[string]error{
		"protobuf of a type without": second(New[*unstructured.Unstructured](c, pods, Options{Formats: []Format{Protobuf, JSON}})),
		"no format":                  second(New[*corev1.Pod](c, pods, Options{Formats: []Format{0}})),
		"unknown format":             second(New[*corev1.Pod](c, pods, Options{Formats: []Format{JSON, 9}})),
		"a format twice":             second(New[*corev1.Pod](c, pods, Options{Formats: []Format{JSON, JSON}})),
		"a shard":                    second(New[*corev1.Pod](c, pods, Options{ShardSelector: "x"})),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "source.New of ") {
			t.Errorf("%s: got %v, want an error that names the call", name, err)
		}
	}
	formats := []Format{JSON}
	s := sourceOf[*corev1.Pod](t, c, pods, Options{Formats: formats})
	formats[0] = Protobuf
	if _, accept := s.c.accept("list"); accept != "application/json" {
		t.Errorf("the source asks for %s after a change of its Options.Formats, want application/json", accept)
	}
}

// refusing returns a server that answers 406 unless JSON alone is requested.
func refusing(requests *[]string) roundTrip {
	return func(req *http.Request) (*http.Response, error) {
		accept := req.Header.Get("Accept")
		*requests = append(*requests, accept)
		switch {
		case accept != "application/json":
			return answer(406, "only application/json", "Content-Type", "text/plain"), nil
		case req.URL.Query().Has("watch"):
			return answer(200, podtest.Event("ADDED", podtest.KindPod("a", "8"))), nil
		}
		return answer(200, podtest.List("7", podtest.Pod("a", "1"))), nil
	}
}

func TestNotAcceptableFallsBackToJSON(t *testing.T) {
	var requests []string
	s := sourceOf[*corev1.Pod](t, newTestClient(t, refusing(&requests)), pods, Options{})
	if got, _, err := listAll(s); err != nil || len(got) != 1 {
		t.Fatalf("got %v, %v", got, err)
	}
	if got, err := watchAll(s); err != nil || len(got) != 1 {
		t.Fatalf("got %v, %v", got, err)
	}
	// The watch asks for JSON at once.
	if len(requests) != 3 || requests[1] != "application/json" || requests[2] != "application/json" {
		t.Errorf("requests accept %q", requests)
	}
}

// TestManagedFieldsAreDropped: by the server, and by the source if the server does not know the
// parameter, or refuses it, or refuses the formats, too. Refusals are remembered.
func TestManagedFieldsAreDropped(t *testing.T) {
	const full = `{"metadata":{"name":"a","namespace":"ns","resourceVersion":"1","managedFields":[{"manager":"kubectl"}]}}`
	const (
		both    = "application/vnd.kubernetes.protobuf,application/json;q=0.9"
		dropped = "application/vnd.kubernetes.protobuf;drop=metadata.managedFields,application/json;drop=metadata.managedFields;q=0.9"
	)
	for name, tc := range map[string]struct {
		refuses func(accept string) bool
		object  string
		want    []string // of a list and a watch
	}{
		"knows it":            {func(string) bool { return false }, podtest.Pod("a", "1"), []string{dropped, dropped}},
		"ignores it":          {func(string) bool { return false }, full, []string{dropped, dropped}},
		"refuses it":          {func(accept string) bool { return strings.Contains(accept, "drop") }, full, []string{dropped, both, both}},
		"refuses all formats": {func(accept string) bool { return accept != "application/json" }, full, []string{dropped, both, "application/json", "application/json"}},
	} {
		t.Run(name, func(t *testing.T) {
			var requests []string
			s := sourceOf[*corev1.Pod](t, newTestClient(t, func(req *http.Request) (*http.Response, error) {
				accept := req.Header.Get("Accept")
				requests = append(requests, accept)
				switch {
				case tc.refuses(accept):
					return answer(406, "no", "Content-Type", "text/plain"), nil
				case req.URL.Query().Has("watch"):
					return answer(200, podtest.Event("ADDED", podtest.WithKind(tc.object))), nil
				}
				return answer(200, podtest.List("7", tc.object)), nil
			}), pods, Options{DropManagedFields: true})
			listed, _, err := listAll(s)
			noError(t, err)
			watched, err := watchAll(s)
			noError(t, err)
			if len(listed) != 1 || len(watched) != 1 || listed[0].ManagedFields != nil || watched[0].Object.ManagedFields != nil {
				t.Errorf("got %v and %v, want one object without managedFields each", listed, watched)
			}
			if !slices.Equal(requests, tc.want) {
				t.Errorf("requests accept\n%s\nwant\n%s", strings.Join(requests, "\n"), strings.Join(tc.want, "\n"))
			}
		})
	}
}

// TestManagedFieldsRefusedForGood: a server that refuses every request is asked once for each form.
func TestManagedFieldsRefusedForGood(t *testing.T) {
	for formats, want := range map[Format]int{Protobuf: 2, JSON: 2} {
		n := 0
		s := sourceOf[*corev1.Pod](t, newTestClient(t, func(*http.Request) (*http.Response, error) { n++; return answer(406, "no"), nil }), pods,
			Options{Formats: []Format{formats}, DropManagedFields: true})
		if _, _, err := listAll(s); !apierrors.IsNotAcceptable(err) || n != want {
			t.Errorf("%v: got %v after %d requests, want a refusal after %d", formats, err, n, want)
		}
	}
}

// TestNotAcceptableConcurrently: requests refused at the same time are all repeated once.
func TestNotAcceptableConcurrently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 8
		var refused, accepted atomic.Int64
		s := sourceOf[*corev1.Pod](t, newTestClient(t, func(req *http.Request) (*http.Response, error) {
			if req.Header.Get("Accept") != "application/json" {
				refused.Add(1)
				time.Sleep(time.Second) // until all requests are sent
				return answer(406, "no"), nil
			}
			accepted.Add(1)
			return answer(200, podtest.List("7", podtest.Pod("a", "1"))), nil
		}), pods, Options{})
		for range n {
			go func() {
				if got, _, err := listAll(s); err != nil || len(got) != 1 {
					t.Errorf("got %v, %v", got, err)
				}
			}()
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if refused.Load() != n || accepted.Load() != n {
			t.Errorf("%d requests were refused and %d not, want %d of each", refused.Load(), accepted.Load(), n)
		}
	})
}

func TestNotAcceptableIsAnErrorWithoutJSON(t *testing.T) {
	for _, formats := range [][]Format{{Protobuf}, {JSON}} {
		n := 0
		s := sourceOf[*corev1.Pod](t, newTestClient(t, func(*http.Request) (*http.Response, error) { n++; return answer(406, "no"), nil }), pods, Options{Formats: formats})
		if _, _, err := listAll(s); !apierrors.IsNotAcceptable(err) || n != 1 {
			t.Errorf("%v: got %v after %d requests, want a refusal after 1", formats, err, n)
		}
	}
}

// TestErrorResponsesInEveryFormat: a Status is decoded in any format, requested or not.
func TestErrorResponsesInEveryFormat(t *testing.T) {
	status := &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   "Failure", Reason: metav1.StatusReasonTooManyRequests, Message: "slow down", Code: 429,
		Details: &metav1.StatusDetails{RetryAfterSeconds: 3},
	}
	for _, f := range everyFormat {
		body := string(podtest.Encode(t, f, status))
		for _, requested := range everyFormat {
			s := sourceOf[*corev1.Pod](t, newTestClient(t, func(*http.Request) (*http.Response, error) {
				return answer(429, body, "Content-Type", f.mediaType()), nil
			}), pods, Options{Formats: []Format{requested}})
			_, _, err := listAll(s)
			if seconds, _ := apierrors.SuggestsClientDelay(err); !apierrors.IsTooManyRequests(err) || seconds != 3 || !strings.Contains(err.Error(), "slow down") {
				t.Errorf("%v: got %v, which suggests %d s", f, err, seconds)
			}
		}
		// Other bytes are not quoted.
		s := sourceOf[*corev1.Pod](t, newTestClient(t, func(*http.Request) (*http.Response, error) {
			return answer(503, "\x00\x01\xff", "Content-Type", f.mediaType()), nil
		}), pods, Options{})
		if _, _, err := listAll(s); !apierrors.IsServiceUnavailable(err) || f != JSON && strings.Contains(err.Error(), "\x00") {
			t.Errorf("%v: got %q", f, err)
		}
	}
}

// TestListStreamsEveryFormat: in every format, objects arrive while the response is open.
func TestListStreamsEveryFormat(t *testing.T) {
	whole := []byte(podtest.List("7", podtest.WithKind(podtest.Large(1)), podtest.WithKind(podtest.Large(2))))
	for _, f := range everyFormat {
		t.Run(f.String(), func(t *testing.T) {
			body := podtest.Transcode(t, whole, f)
			r, w := io.Pipe()
			s := sourceOf[*corev1.Pod](t, newTestClient(t, func(*http.Request) (*http.Response, error) {
				resp := answer(200, "", "Content-Type", f.mediaType())
				resp.Body = r
				return resp, nil
			}), pods, Options{Formats: []Format{f}})
			first, done := make(chan string, 2), make(chan error)
			go func() {
				_, err := s.List(context.Background(), ListOptions{}, func(p *corev1.Pod) error { first <- p.Name; return nil })
				done <- err
			}()
			// All of the first Pod and some of the second.
			cut := strings.Index(string(body), "web-2")
			if _, err := w.Write(body[:cut]); err != nil {
				t.Fatal(err)
			}
			if got := <-first; got != "web-1" {
				t.Errorf("got %s", got)
			}
			if _, err := w.Write(body[cut:]); err != nil {
				t.Fatal(err)
			}
			w.Close()
			noError(t, <-done)
			if got := <-first; got != "web-2" {
				t.Errorf("got %s", got)
			}
		})
	}
}
