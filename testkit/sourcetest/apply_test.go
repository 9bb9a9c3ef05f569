// SPDX-License-Identifier: Apache-2.0

package sourcetest_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/testkit/sourcetest"
	"github.com/informer-gen/informer-gen/testkit/sourcetest/patches"
)

// serverOfPatches returns a server with every type of patch.
func serverOfPatches() *sourcetest.Server {
	server := sourcetest.New()
	server.Patches = patches.All{}
	return server
}

// TestApplyMergesByOwner has two managers apply parts of one object.
func TestApplyMergesByOwner(t *testing.T) {
	server := serverOfPatches()
	pods := sourcetest.Serve[*corev1.Pod](server, podResource, "")
	apply := func(query, body string) written {
		return call(t, server, "PATCH", inShop+"/a"+query, "apiVersion: v1\nkind: Pod\n"+body, "Content-Type", "application/apply-patch+yaml")
	}
	labels := func(text string) string { return "metadata: {name: a, labels: {" + text + "}}" }
	now := func() string {
		stored, _ := pods.Get("shop", "a")
		return fmt.Sprint(stored.Labels, stored.Spec.NodeName)
	}
	for _, tc := range []struct{ query, body, want, after string }{
		{"?fieldManager=one", labels("color: red, size: '1'"), "201 a at 2", "map[color:red size:1]"},
		{"?fieldManager=one", labels("color: red, size: '1'"), "200 a at 2", "map[color:red size:1]"},
		{"?fieldManager=two", labels("color: blue"), `409 Conflict Apply failed with 1 conflict: conflict with "one": .metadata.labels.color`, "map[color:red size:1]"},
		{"?fieldManager=two&force=true&dryRun=All", labels("color: blue"), "200 a at 2", "map[color:red size:1]"},
		{"?fieldManager=two&force=true", labels("color: blue"), "200 a at 3", "map[color:blue size:1]"},
		{"?fieldManager=one", labels(""), "200 a at 4", "map[color:blue]"},
		{"?fieldManager=one", labels("") + "\nspec: {nodeName: one}", "200 a at 5", "map[color:blue]one"},
		{"", labels(""), `422 Invalid PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch`, ""},
		{"?fieldManager=one", "metadata: {name: b}", "400 BadRequest the name of the object (b) does not match the name on the URL (a)", ""},
		{"?fieldManager=one", ":", "400", "map[color:blue]one"},
	} {
		what := tc.query + " " + tc.body
		got := apply(tc.query, tc.body)
		if tc.want != "400" || got.code != 400 {
			expect(t, what, got, tc.want)
		}
		if now := now(); tc.after != "" && now != tc.after {
			t.Errorf("%s: %s, want %s", what, now, tc.after)
		}
	}

	// A writer of another kind owns the fields it changes.
	expect(t, "update", call(t, server, "PATCH", inShop+"/a", `{"spec":{"nodeName":"m"}}`, "Content-Type", "application/merge-patch+json", "User-Agent", "by-hand/v1 (linux)"), "200 a at 6")
	conflict := apply("?fieldManager=one", labels("")+"\nspec: {nodeName: one}")
	if conflict.code != 409 || !strings.Contains(conflict.status.Message, `conflict with "by-hand" using v1`) || conflict.status.Details.Causes[0].Type != metav1.CauseTypeFieldManagerConflict {
		t.Error(conflict.raw)
	}
}

// TestApplyOwnsOnlyWritableFields has a manager of the object and one of its status. Both send the
// whole object.
func TestApplyOwnsOnlyWritableFields(t *testing.T) {
	server := serverOfPatches()
	pods := sourcetest.Serve[*corev1.Pod](server, podResource, "")
	apply := func(path, node, phase string) written {
		const body = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"node":%q}},"spec":{"nodeName":%q},"status":{"phase":%q}}`
		return call(t, server, "PATCH", inShop+path, fmt.Sprintf(body, node, node, phase), "Content-Type", "application/apply-patch+yaml")
	}
	expect(t, "missing", apply("/a/status?fieldManager=two", "x", "Running"), `404 NotFound pods "a" not found`)
	expect(t, "create", apply("/a?fieldManager=one", "n", "Pending"), "201 a at 2")
	expect(t, "status", apply("/a/status?fieldManager=two", "x", "Running"), "200 a at 3")
	expect(t, "object", apply("/a?fieldManager=one", "m", "Failed"), "200 a at 4")
	stored, _ := pods.Get("shop", "a")
	if got := fmt.Sprint(stored.Labels, stored.Spec.NodeName, stored.Status.Phase); got != "map[node:m]mRunning" || stored.ManagedFields[0].Subresource+stored.ManagedFields[1].Subresource != "status" {
		t.Error(got, stored.ManagedFields)
	}

	withoutStatus := serverOfPatches()
	pods = sourcetest.Serve[*corev1.Pod](withoutStatus, podResource, "").WithoutStatus()
	server = withoutStatus
	expect(t, "without the subresource", apply("/a?fieldManager=one", "n", "Pending"), "201 a at 2")
	if stored, _ := pods.Get("shop", "a"); stored.Status.Phase != corev1.PodPending {
		t.Errorf("without a status subresource, the phase is %q", stored.Status.Phase)
	}
}

// TestEqualApplyIsNoWrite applies the stored object in another form: without defaults, or with
// another text for the same quantity.
func TestEqualApplyIsNoWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := serverOfPatches()
		sourcetest.Serve[*corev1.Pod](server, podResource, "")
		apply := func(image string) written {
			const body = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":%q,"resources":{"limits":{"cpu":"0.5"}}}]}}`
			return call(t, server, "PATCH", inShop+"/a?fieldManager=one", fmt.Sprintf(body, image), "Content-Type", "application/apply-patch+yaml")
		}
		expect(t, "create", apply("i"), "201 a at 2")
		time.Sleep(time.Hour)
		expect(t, "the same an hour later", apply("i"), "200 a at 2")
		again := apply("i").meta.ManagedFields
		if len(again) != 1 || !again[0].Time.Time.Equal(time.Now().Add(-time.Hour)) {
			t.Errorf("managedFields are %v; want the time of the create", again)
		}
		expect(t, "another image", apply("j"), "200 a at 3")
	})
}
