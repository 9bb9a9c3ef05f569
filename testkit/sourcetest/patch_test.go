// SPDX-License-Identifier: Apache-2.0

package sourcetest_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

func TestPatchesOfEachType(t *testing.T) {
	server := serverOfPatches()
	pods := sourcetest.Serve[*corev1.Pod](server, podResource, "")
	first := pods.Create(pod("shop", "a", label("color", "red"), func(p *corev1.Pod) {
		p.Spec.Containers = []corev1.Container{{Name: "one", Image: "1"}, {Name: "two", Image: "2"}}
	}))
	images := func() (all []string) {
		stored, _ := pods.Get("shop", "a")
		for _, c := range stored.Spec.Containers {
			all = append(all, c.Name+":"+c.Image)
		}
		return append(all, fmt.Sprint(stored.Labels, stored.Generation))
	}
	const strategic, merge, operations = types.StrategicMergePatchType, types.MergePatchType, types.JSONPatchType
	for _, tc := range []struct {
		kind        types.PatchType
		query, body string
		want        string
		after       string
	}{
		{strategic, "", `{"spec":{"containers":[{"name":"two","image":"3"}]}}`, "200 a at 3", "[one:1 two:3 map[color:red] 2]"},
		{strategic, "", `{"spec":{"containers":[{"name":"one","$patch":"delete"}]}}`, "200 a at 4", "[two:3 map[color:red] 3]"},
		{merge, "", `{"metadata":{"labels":{"color":null,"size":"1"}}}`, "200 a at 5", "[two:3 map[size:1] 3]"},
		{merge, "", `{"metadata":{"labels":{"size":"1"}}}`, "200 a at 5", "[two:3 map[size:1] 3]"},
		{operations, "", `[{"op":"test","path":"/metadata/labels/size","value":"1"},{"op":"replace","path":"/spec/containers/0/image","value":"4"}]`, "200 a at 6", "[two:4 map[size:1] 4]"},
		{merge, "?dryRun=All", `{"spec":{"nodeName":"n"}}`, "200 a at 6", "[two:4 map[size:1] 4]"},
		{merge, "", `{"metadata":{"resourceVersion":"5"}}`,
			`409 Conflict Operation cannot be fulfilled on pods "a": the object has been modified; please apply your changes to the latest version and try again`, "[two:4 map[size:1] 4]"},
		{merge, "", `{"metadata":{"uid":"x"}}`, `422 Invalid Pod "a" is invalid: metadata.uid: Invalid value: "x": field is immutable`, ""},
		{merge, "", `{"metadata":{"name":"b"}}`, `400 BadRequest the name of the object (b) does not match the name on the URL (a)`, ""},
		{merge, "", `{`, "400 BadRequest Invalid JSON Patch", ""},
		{strategic, "", `{`, "400 BadRequest invalid JSON document", ""},
		{operations, "", `{}`, "400 BadRequest json: cannot unmarshal object into Go value of type jsonpatch.Patch", ""},
		{operations, "", `[{"op":"test","path":"/metadata/labels/size","value":"2"}]`, "422 Invalid the server rejected our request due to an error in our request", ""},
		{merge, "?force=true", `{}`, `422 Invalid PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch`, ""},
		{"application/json", "", `{}`, "415 UnsupportedMediaType the body of the request was in an unknown format - accepted media types include: " +
			"application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml", "[two:4 map[size:1] 4]"},
	} {
		what := fmt.Sprint(tc.kind, tc.query, " ", tc.body)
		expect(t, what, call(t, server, "PATCH", inShop+"/a"+tc.query, tc.body, "Content-Type", string(tc.kind)), tc.want)
		if got := fmt.Sprint(images()); tc.after != "" && got != tc.after {
			t.Errorf("%s: %s, want %s", what, got, tc.after)
		}
	}
	bad := call(t, server, "PATCH", inShop+"/a", `{"spec":{"containers":1}}`, "Content-Type", string(merge))
	if bad.code != 422 || bad.status.Details.Causes[0].Field != "patch" {
		t.Error(bad.raw)
	}
	expect(t, "missing", call(t, server, "PATCH", inShop+"/b", `{}`, "Content-Type", string(merge)), `404 NotFound pods "b" not found`)
	if stored, _ := pods.Get("shop", "a"); stored.UID != first.UID || stored.Kind != "Pod" {
		t.Errorf("%+v", stored)
	}
}

// TestWithoutPatches patches on a server without Patches, and writes an object that was applied in
// a cluster.
func TestWithoutPatches(t *testing.T) {
	server := sourcetest.New()
	pods := sourcetest.Serve[*corev1.Pod](server, podResource, "")
	pods.Create(pod("shop", "a", func(p *corev1.Pod) {
		p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationApply, APIVersion: "v1"}}
	}))
	for _, kind := range []types.PatchType{types.StrategicMergePatchType, types.ApplyPatchType} {
		expect(t, string(kind), call(t, server, "PATCH", inShop+"/a?fieldManager=one", `{}`, "Content-Type", string(kind)),
			"415 UnsupportedMediaType the body of the request was in an unknown format - accepted media types include: "+
				"application/json-patch+json, application/merge-patch+json; sourcetest.Server has others if its Patches are set")
	}
	expect(t, "merge", call(t, server, "PATCH", inShop+"/a", `{"spec":{"nodeName":"n"}}`, "Content-Type", string(types.MergePatchType)), "200 a at 3")
	if stored, _ := pods.Get("shop", "a"); len(stored.ManagedFields) != 1 {
		t.Errorf("managedFields are %v; want them as they were", stored.ManagedFields)
	}
}
