// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

func TestRBAC(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		flags     []string
		forbidden bool
	}{
		{[]string{"--built-in-kinds"}, false},
		{[]string{"--built-in-kinds", "--rbac"}, true},
	} {
		config := &rest.Config{Host: controlled(t, test.flags...).URL(), Impersonate: rest.ImpersonationConfig{UserName: "ada"}}
		c, err := dynamic.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		maps := c.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("default")
		if _, err := maps.List(t.Context(), metav1.ListOptions{}); apierrors.IsForbidden(err) != test.forbidden || err != nil && !test.forbidden {
			t.Errorf("with %q List returns %v, want Forbidden: %v", test.flags, err, test.forbidden)
		}
	}
}
