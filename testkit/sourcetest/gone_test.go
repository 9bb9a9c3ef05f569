// SPDX-License-Identifier: Apache-2.0

package sourcetest_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestWritesRecreateNothing has a client write an object that was deleted after its read.
func TestWritesRecreateNothing(t *testing.T) {
	server := serverOfPatches()
	pods := sourcetest.Serve[*corev1.Pod](server, podResource, "")
	read := pods.Create(pod("shop", "a"))
	pods.Delete("shop", "a")

	const missing = `404 NotFound pods "a" not found`
	expect(t, "update", call(t, server, "PUT", inShop+"/a", read), missing)
	expect(t, "update of the status", call(t, server, "PUT", inShop+"/a/status", read), missing)
	expect(t, "apply", apply(t, server, "uid", string(read.UID)),
		`409 Conflict Operation cannot be fulfilled on pods "a": uid mismatch: the provided object specified uid `+string(read.UID)+`, and no existing object was found`)
	if left := pods.All(); len(left) > 0 {
		t.Errorf("%d objects exist, want none", len(left))
	}
}

func TestCreatingApplyIgnoresVersion(t *testing.T) {
	server := serverOfPatches()
	sourcetest.Serve[*corev1.Pod](server, podResource, "")
	expect(t, "apply", apply(t, server, "resourceVersion", "5"), "201 a at 2")
	expect(t, "the next one", apply(t, server, "resourceVersion", "5"),
		`409 Conflict Operation cannot be fulfilled on pods "a": the object has been modified; please apply your changes to the latest version and try again`)
}

// apply applies a Pod with one more field of metadata.
func apply(t *testing.T, server *sourcetest.Server, field, value string) written {
	t.Helper()
	patch := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","` + field + `":"` + value + `"}}`
	return call(t, server, "PATCH", inShop+"/a?fieldManager=one", patch, "Content-Type", "application/apply-patch+yaml")
}
