// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/reason"
)

// TestAdviceOnMissingResources: a CustomResourceDefinition helps only for groups that the API
// server doesn't have itself.
func TestAdviceOnMissingResources(t *testing.T) {
	for group, builtIn := range map[string]bool{
		"": true, "apps": true, "networking.k8s.io": true, "rbac.authorization.k8s.io": true, "flowcontrol.apiserver.k8s.io": true,
		"gateway.networking.k8s.io": false, "snapshot.storage.k8s.io": false, "metrics.k8s.io": false, "example.com": false, "apps.example.com": false,
	} {
		advice := adviceOf(reason.NotFound, schema.GroupVersionResource{Group: group, Version: "v1", Resource: "widgets"})
		if strings.Contains(advice, "--runtime-config") != builtIn || strings.Contains(advice, "CustomResourceDefinition") == builtIn {
			t.Errorf("group %q: %s", group, advice)
		}
	}
	none := schema.GroupVersionResource{}
	if got := adviceOf(reason.NotFound, none); got != adviceFor[reason.NotFound] {
		t.Error(got)
	}
	if got := adviceOf(reason.Forbidden, none); got != adviceFor[reason.Forbidden] {
		t.Error(got)
	}
}
