// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/server/serve"
)

// TestDiscoveryByClientGo shows that client-go finds the same resources with legacy and aggregated
// discovery.
func TestDiscoveryByClientGo(t *testing.T) {
	r := newRig(t, serve.Config{}, true)
	handler, err := serve.New(serve.Config{Resources: []serve.Resource{
		{GroupVersionResource: widgetsResource, Kind: "Widget", Namespaced: true, ShortNames: []string{"w"}, Cache: r.cache, Writer: r.storage},
		{GroupVersionResource: widgetsResource.GroupVersion().WithResource("gizmos"), Kind: "Gizmo", Cache: r.cache},
		{GroupVersionResource: pods, Kind: "Pod", Namespaced: true, Cache: r.cache},
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := "samples.dev/v1 Gizmo gizmos gizmo cluster [] [get list watch], " +
		"samples.dev/v1 Widget widgets widget namespaced [w] [create delete get list update watch], " +
		"v1 Pod pods pod namespaced [] [get list watch]"
	for _, legacy := range []bool{false, true} {
		config := &rest.Config{Host: r.serveHandler(t, handler), Transport: r.client.Transport}
		client := discovery.NewDiscoveryClientForConfigOrDie(config)
		client.UseLegacyDiscovery = legacy
		_, lists, err := client.ServerGroupsAndResources()
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, list := range lists {
			for _, r := range list.APIResources {
				scope := "cluster"
				if r.Namespaced {
					scope = "namespaced"
				}
				found = append(found, fmt.Sprint(list.GroupVersion, " ", r.Kind, " ", r.Name, " ", r.SingularName, " ", scope, " ", r.ShortNames, " ", r.Verbs))
			}
		}
		slices.Sort(found)
		if got := strings.Join(found, ", "); got != want {
			t.Errorf("legacy %v:\n got %s\nwant %s", legacy, got, want)
		}
		if version, err := client.ServerVersion(); err != nil || version.GitVersion != "v1.37.0" {
			t.Errorf("ServerVersion() = %v, %v; want v1.37.0", version, err)
		}
	}
}
