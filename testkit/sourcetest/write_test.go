// SPDX-License-Identifier: Apache-2.0

package sourcetest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// written is the answer to a write.
type written struct {
	code   int
	raw    string
	status metav1.Status // of a refusal
	meta   metav1.ObjectMeta
}

// String returns the code, and the message of a refusal or the version of an object.
func (w written) String() string {
	if w.status.Kind == "Status" {
		return strings.TrimSpace(fmt.Sprintf("%d %s %s", w.code, w.status.Reason, w.status.Message))
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s at %s", w.code, w.meta.Name, w.meta.ResourceVersion))
}

// call sends a request with a JSON body: a string, or a value to encode.
func call(t *testing.T, server http.RoundTripper, method, path string, body any, headers ...string) written {
	t.Helper()
	raw, ok := body.(string)
	if !ok && body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		raw = string(encoded)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, "http://server"+path, strings.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", sourcetest.JSON)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := server.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	w := written{code: resp.StatusCode, raw: string(bytes.TrimSpace(answer))}
	var obj struct{ Metadata metav1.ObjectMeta }
	if err := json.Unmarshal(answer, &w.status); err != nil || w.status.Kind != "Status" {
		w.status = metav1.Status{}
		if err := json.Unmarshal(answer, &obj); err != nil {
			t.Fatalf("%s %s: %v in %s", method, path, err, answer)
		}
	}
	w.meta = obj.Metadata
	return w
}

// expect compares an answer with want, up to "…": the rest depends on the version of Kubernetes'
// libraries.
func expect(t *testing.T, what string, got fmt.Stringer, want string) {
	t.Helper()
	begin, _, open := strings.Cut(want, "…")
	if got.String() != want && !(open && strings.HasPrefix(got.String(), begin)) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

const inShop = "/api/v1/namespaces/shop/pods"

func TestCreateFillsMetadataAndRefuses(t *testing.T) {
	server := sourcetest.New()
	pods := sourcetest.Serve[*corev1.Pod](server, podResource, "")
	created := call(t, server, "POST", inShop, pod("", "a", func(p *corev1.Pod) {
		p.UID, p.Generation, p.Status.Phase, p.Spec.NodeName = "mine", 7, corev1.PodRunning, "n"
	}))
	stored, _ := pods.Get("shop", "a")
	if created.code != http.StatusCreated || stored.UID == "mine" || stored.UID != created.meta.UID || stored.ResourceVersion != "2" ||
		stored.CreationTimestamp.IsZero() || stored.Generation != 1 || stored.Spec.NodeName != "n" || stored.Status.Phase != "" || stored.Kind != "Pod" {
		t.Errorf("%s\n%+v", created.raw, stored)
	}
	if named := call(t, server, "POST", inShop, pod("", "", func(p *corev1.Pod) { p.GenerateName = "web-" })); !strings.HasPrefix(named.meta.Name, "web-") || named.code != 201 {
		t.Error(named.raw)
	}
	held := pod("shop", "held", func(p *corev1.Pod) { p.Finalizers = []string{"samples.io/hold"} })
	pods.Create(held)
	pods.Delete("shop", "held")
	for what, tc := range map[string]struct {
		path string
		body any
		want string
	}{
		"exists":            {inShop, pod("", "a"), `409 AlreadyExists pods "a" already exists`},
		"being deleted":     {inShop, held, `409 AlreadyExists object is being deleted: pods "held" already exists`},
		"other namespace":   {inShop, pod("else", "b"), "400 BadRequest the namespace of the provided object does not match the namespace sent on the request"},
		"no name":           {inShop, pod("", ""), `422 Invalid Pod "" is invalid: metadata.name: Required value: name or generateName is required`},
		"resourceVersion":   {inShop, pod("", "b", func(p *corev1.Pod) { p.ResourceVersion = "2" }), "500  resourceVersion should not be set on objects to be created"},
		"another kind":      {inShop, `{"kind":"Node","apiVersion":"v1"}`, `400 BadRequest Node in version "v1" cannot be handled as a Pod: no kind "Node" is registered for version "v1" in scheme …`},
		"no JSON":           {inShop, `{`, "400 BadRequest the object provided is unrecognized (must be of type Pod): couldn't get version/kind; json parse error: unexpected end of JSON input"},
		"wrong type":        {inShop, `{"metadata":{"name":1}}`, `400 BadRequest Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string`},
		"unknown field":     {inShop + "?fieldValidation=Strict", `{"metadata":{"name":"b"},"spek":{}}`, `400 BadRequest Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spek"`},
		"dryRun":            {inShop + "?dryRun=All", pod("", "b"), "201 b at"},
		"dryRun of none":    {inShop + "?dryRun=Some", pod("", "b"), `422 Invalid CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: …`},
		"no collection":     {"/api/v1/namespaces/shop/nodes", pod("", "b"), "404 NotFound the server could not find the requested resource"},
		"named by the path": {inShop + "/b", pod("", "b"), "405 MethodNotAllowed the server does not allow this method on the requested resource"},
	} {
		expect(t, what, call(t, server, "POST", tc.path, tc.body), tc.want)
	}
	if n := len(pods.All()); n != 3 {
		t.Errorf("%d objects, want 3", n)
	}
	if bad := call(t, server, "POST", inShop, pod("", "A_b")); bad.status.Details == nil || bad.code != 422 || bad.status.Details.Causes[0].Field != "metadata.name" {
		t.Error(bad.raw)
	}
}

func TestGeneratedNamesHaveAtMost63Characters(t *testing.T) {
	server := sourcetest.New()
	pods := sourcetest.Serve[*corev1.Pod](server, podResource, "")
	base := strings.Repeat("a", 70)
	created := call(t, server, "POST", inShop, pod("", "", func(p *corev1.Pod) { p.GenerateName = base }))
	byHand := pods.Create(pod("shop", "", func(p *corev1.Pod) { p.GenerateName = base }))
	for _, name := range []string{created.meta.Name, byHand.Name} {
		if len(name) != 63 || !strings.HasPrefix(name, base[:58]) {
			t.Errorf("the name is %q, want 58 characters of %q and 5 others", name, base)
		}
	}
	if created.meta.Name == byHand.Name {
		t.Errorf("two objects have the name %s", byHand.Name)
	}
}

func TestUpdateNeedsTheLatestVersion(t *testing.T) {
	server := sourcetest.New()
	pods := sourcetest.Serve[*corev1.Pod](server, podResource, "")
	first := pods.Create(pod("shop", "a"))
	events := watch(t.Context(), t, server, inShop+"?watch=1&resourceVersion=2")

	next := first.DeepCopy()
	next.Spec.NodeName, next.Status.Phase, next.CreationTimestamp = "n", corev1.PodFailed, metav1.Time{}
	expect(t, "update", call(t, server, "PUT", inShop+"/a", next), "200 a at 3")
	stored, _ := pods.Get("shop", "a")
	if stored.Generation != 2 || stored.Spec.NodeName != "n" || stored.Status.Phase != "" || stored.UID != first.UID || !stored.CreationTimestamp.Equal(&first.CreationTimestamp) {
		t.Errorf("%+v", stored)
	}
	expect(t, "no change", call(t, server, "PUT", inShop+"/a", stored), "200 a at 3")
	const stale = `409 Conflict Operation cannot be fulfilled on pods "a": the object has been modified; please apply your changes to the latest version and try again`
	expect(t, "stale", call(t, server, "PUT", inShop+"/a", first), stale)
	expect(t, "stale status", call(t, server, "PUT", inShop+"/a/status", first), stale)
	expect(t, "no version", call(t, server, "PUT", inShop+"/a", pod("", "a", label("color", "red"))), "200 a at 4")
	stored, _ = pods.Get("shop", "a")
	if stored.Generation != 3 || stored.Labels["color"] != "red" { // the node is gone from the spec
		t.Errorf("%+v", stored)
	}
	expect(t, "dryRun", call(t, server, "PUT", inShop+"/a?dryRun=All", pod("", "a")), "200 a at 4")
	expect(t, "another uid", call(t, server, "PUT", inShop+"/a", pod("", "a", func(p *corev1.Pod) { p.UID = "x" })),
		`409 Conflict Operation cannot be fulfilled on pods "a": Precondition failed: UID in precondition: x, UID in object meta: `+string(first.UID))
	expect(t, "another name", call(t, server, "PUT", inShop+"/a", pod("", "b")), "400 BadRequest the name of the object (b) does not match the name on the URL (a)")
	expect(t, "no name", call(t, server, "PUT", inShop+"/a", pod("", "")), "400 BadRequest the name of the object (a based on URL) was undeterminable: name must be provided")
	expect(t, "missing", call(t, server, "PUT", inShop+"/b", pod("", "b")), `404 NotFound pods "b" not found`)
	expect(t, "labels", call(t, server, "PUT", inShop+"/a", pod("", "a", label("/", "x"))), `422 Invalid Pod "a" is invalid: [metadata.labels: Invalid value: "/": prefix part must be non-empty, …`)
	events.want("MODIFIED a 3", "MODIFIED a 4")
}

func TestStatusIsWrittenByItsSubresourceOnly(t *testing.T) {
	server := sourcetest.New()
	pods := sourcetest.Serve[*corev1.Pod](server, podResource, "")
	first := pods.Create(pod("shop", "a"))
	next := first.DeepCopy()
	next.Spec.NodeName, next.Labels, next.Status.Phase = "n", map[string]string{"a": "b"}, corev1.PodRunning
	expect(t, "status", call(t, server, "PUT", inShop+"/a/status", next), "200 a at 3")
	stored, _ := pods.Get("shop", "a")
	if stored.Spec.NodeName != "" || stored.Labels != nil || stored.Status.Phase != corev1.PodRunning || stored.Generation != 1 {
		t.Errorf("%+v", stored)
	}
	expect(t, "patch", call(t, server, "PATCH", inShop+"/a/status", `{"spec":{"nodeName":"n"},"status":{"phase":"Failed"}}`, "Content-Type", "application/merge-patch+json"), "200 a at 4")
	if stored, _ = pods.Get("shop", "a"); stored.Spec.NodeName != "" || stored.Status.Phase != corev1.PodFailed {
		t.Errorf("%+v", stored)
	}
	expect(t, "get", call(t, server, "GET", inShop+"/a/status", nil), "200 a at 4")
	expect(t, "log", call(t, server, "GET", inShop+"/a/log", nil), "404 NotFound the server could not find the requested resource")
	expect(t, "delete", call(t, server, "DELETE", inShop+"/a/status", nil), "405 MethodNotAllowed the server does not allow this method on the requested resource")

	maps := sourcetest.Serve[*corev1.ConfigMap](server, corev1.SchemeGroupVersion.WithResource("configmaps"), "")
	maps.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "m"}})
	expect(t, "none", call(t, server, "PUT", "/api/v1/namespaces/shop/configmaps/m/status", "{}"), "404 NotFound the server could not find the requested resource")
	if m, _ := maps.Get("shop", "m"); m.Generation != 0 {
		t.Error("the ConfigMap has a generation")
	}
	sets := sourcetest.Serve[*appsv1.ReplicaSet](server, appsv1.SchemeGroupVersion.WithResource("replicasets"), "").WithoutStatus()
	expect(t, "without", call(t, server, "POST", "/apis/apps/v1/namespaces/shop/replicasets", `{"metadata":{"name":"r"},"status":{"replicas":3}}`), "201 r at 6")
	if r, _ := sets.Get("shop", "r"); r.Status.Replicas != 3 {
		t.Error("the status was dropped")
	}
	expect(t, "without", call(t, server, "PUT", "/apis/apps/v1/namespaces/shop/replicasets/r/status", "{}"), "404 NotFound the server could not find the requested resource")
}

// TestCustomResourcesHaveRulesOfTheirOwn: each update needs a version, the generation counts all
// changes outside of metadata, and there is no strategic merge.
func TestCustomResourcesHaveRulesOfTheirOwn(t *testing.T) {
	server := serverOfPatches()
	sourcetest.Serve[*unstructured.Unstructured](server, widgetResource, "Widget")
	const path = "/apis/samples.io/v1/widgets"
	widget := func(version, size, state string) string {
		return fmt.Sprintf(`{"kind":"Widget","apiVersion":"samples.io/v1","metadata":{"name":"w","resourceVersion":%q},"size":%q,"status":{"state":%q}}`, version, size, state)
	}
	expect(t, "create", call(t, server, "POST", path, widget("", "1", "new")), "201 w at 2")
	expect(t, "no version", call(t, server, "PUT", path+"/w", widget("", "2", "")),
		`422 Invalid widgets.samples.io "w" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`)
	updated := call(t, server, "PUT", path+"/w", widget("2", "2", "ignored"))
	if updated.meta.Generation != 2 || strings.Contains(updated.raw, "ignored") {
		t.Error(updated.raw)
	}
	updated = call(t, server, "PUT", path+"/w/status", widget("3", "9", "ready"))
	if updated.meta.Generation != 2 || !strings.Contains(updated.raw, `"size":"2"`) || !strings.Contains(updated.raw, `"state":"ready"`) {
		t.Error(updated.raw)
	}
	expect(t, "strategic", call(t, server, "PATCH", path+"/w", `{}`, "Content-Type", "application/strategic-merge-patch+json"),
		"415 UnsupportedMediaType the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml")
	expect(t, "protobuf", call(t, server, "POST", path, `x`, "Content-Type", sourcetest.Protobuf),
		"415 UnsupportedMediaType the body of the request was in an unknown format - accepted media types include: application/json")
	expect(t, "another version", call(t, server, "POST", path, `{"kind":"Widget","apiVersion":"samples.io/v2"}`),
		`400 BadRequest Widget in version "v2" cannot be handled as a Widget`)
}

func TestGetWaitsForItsVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, pods := history(t)
		expect(t, "get", call(t, server, "GET", inShop+"/b", nil), "200 b at 5")
		expect(t, "gone", call(t, server, "GET", inShop+"/a", nil), `404 NotFound pods "a" not found`)
		time.AfterFunc(time.Second, func() { pods.Delete("shop", "b") })
		expect(t, "a version to come", call(t, server, "GET", inShop+"/c?resourceVersion=7", nil), "200 c at 4")
		expect(t, "too late", call(t, server, "GET", inShop+"/c?resourceVersion=9", nil), "504 Timeout Timeout: Too large resource version: 9, current: 7")
	})
}

// TestWritesInEachFormat sends objects and delete options in each format, and reads the answers.
func TestWritesInEachFormat(t *testing.T) {
	for name, contentType := range formats {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, contentType)
			created, updated := &corev1.Pod{}, &corev1.Pod{}
			mine := pod("", "a", label("color", "red"), func(p *corev1.Pod) { p.Spec.NodeName = "n" })
			request := func(method string) *rest.Request {
				return w.client.Verb(method).Namespace("shop").Resource("pods")
			}
			if err := request("POST").Body(mine).Do(t.Context()).Into(created); err != nil || created.Labels["color"] != "red" || created.ResourceVersion != "2" {
				t.Errorf("create: %v, %+v", err, created)
			}
			created.Spec.NodeName = "m"
			if err := request("PUT").Name("a").Body(created).Do(t.Context()).Into(updated); err != nil || updated.Spec.NodeName != "m" {
				t.Errorf("update: %v, %+v", err, updated)
			}
			if err := request("PUT").Name("a").Body(created).Do(t.Context()).Error(); !apierrors.IsConflict(err) {
				t.Errorf("a stale update: error %v, want a conflict", err)
			}
			if err := request("DELETE").Name("a").Body(&metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions("x")}).Do(t.Context()).Error(); !apierrors.IsConflict(err) {
				t.Errorf("a delete of another UID: error %v", err)
			}
			w.server.MediaTypes = []string{sourcetest.JSON}
			if err := request("POST").SetHeader("Accept", sourcetest.JSON).Body(mine).Do(t.Context()).Error(); name != "json" && !apierrors.IsUnsupportedMediaType(err) {
				t.Errorf("an unsupported format: error %v", err)
			}
			metadata := call(t, w.server, "PATCH", inShop+"/a", `{"metadata":{"labels":{"size":"1"}}}`,
				"Content-Type", "application/merge-patch+json", "Accept", sourcetest.JSON+";as=PartialObjectMetadata;g=meta.k8s.io;v=v1")
			if metadata.meta.Labels["size"] != "1" || !strings.Contains(metadata.raw, `"PartialObjectMetadata"`) || strings.Contains(metadata.raw, "spec") {
				t.Error(metadata.raw)
			}
		})
	}
}
