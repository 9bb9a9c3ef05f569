// SPDX-License-Identifier: Apache-2.0

package sourcetest_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestSelectorsMatchOmittedFields: selectors match fields omitted from JSON because they are false
// or 0.
func TestSelectorsMatchOmittedFields(t *testing.T) {
	server := sourcetest.New()
	nodes := sourcetest.Serve[*corev1.Node](server, corev1.SchemeGroupVersion.WithResource("nodes"), "",
		"spec.unschedulable", "spec.podCIDR", "status.daemonEndpoints.kubeletEndpoint.Port", "spec.nothing.here")
	nodes.Create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "open"}})
	nodes.Create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "shut"}, Spec: corev1.NodeSpec{Unschedulable: true, PodCIDR: "x"}})
	for selector, want := range map[string]string{
		"spec.unschedulable%3Dfalse":                      "[open]",
		"spec.unschedulable%3Dtrue":                       "[shut]",
		"spec.unschedulable%21%3Dfalse":                   "[shut]",
		"spec.podCIDR%3D":                                 "[open]",
		"spec.nothing.here%3D":                            "[open shut]",
		"status.daemonEndpoints.kubeletEndpoint.Port%3D0": "[open shut]",
	} {
		if got := fmt.Sprint(get(t, server, "/api/v1/nodes?fieldSelector="+selector).names); got != want {
			t.Errorf("%s selects %s, want %s", selector, got, want)
		}
	}
}
