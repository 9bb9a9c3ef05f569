// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGroupIsOfTheModule(t *testing.T) {
	for module, want := range map[string]string{
		"example.com/shop":                "shop.example.com",
		"example.com/shop/v2":             "shop.example.com",
		"github.com/Acme/widget_operator": "widget-operator.acme.github.com",
		"gopkg.in/shop.v3":                "shop.gopkg.in",
		"shop":                            "shop.example.com",
		"shops/fruit":                     "fruit.shops.example.com",
		"example.com":                     "example.com",
		"k8s.example.com/a/b/c":           "c.b.a.k8s.example.com",
		"example.com/...":                 "program.example.com",
	} {
		if got := groupOf(module); got != want {
			t.Errorf("the group of %s is %s, want %s", module, got, want)
		}
	}
}

// TestNewKinds: plurals are those of the generator and of controller-gen. No name in a file is that
// of the package it imports.
func TestNewKinds(t *testing.T) {
	type names struct{ Plural, Resource, Accessor, Package string }
	for kind, want := range map[string]names{
		"Widget":    {"Widgets", "widgets", "Shop().V1().Widgets()", "widget"},
		"Policy":    {"Policies", "policies", "Shop().V1().Policies()", "policy"},
		"Box":       {"Boxes", "boxes", "Shop().V1().Boxes()", "box"},
		"Endpoints": {"Endpoints", "endpoints", "Shop().V1().Endpoints()", "endpoints"},
		"Cluster":   {"Clusters", "clusters", "Shop().V1().Clusters()", "clustercontroller"},
		"Informer":  {"Informers", "informers", "Shop().V1().Informers()", "informercontroller"},
		"Config":    {"Configs", "configs", "Shop().V1().Configs()", "configcontroller"},
		"Type":      {"Types", "types", "Shop().V1().Types()", "typeapi"},
		"Main":      {"Mains", "mains", "Shop().V1().Mains()", "mainapi"},
		"HTTPRoute": {"HTTPRoutes", "httproutes", "Shop().V1().HTTPRoutes()", "httproute"},
	} {
		p := look(t, project(t, ""))
		if err := p.ControlNew(kind, "", ""); err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		c := p.Controller
		if diff := cmp.Diff(want, names{c.Plural, c.Resource, c.Accessor, c.PackageName}); diff != "" {
			t.Errorf("%s: -want +got:\n%s", kind, diff)
		}
		if _, err := p.Write(false); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestRaisedKubernetesIsDevserversVersion(t *testing.T) {
	for version, want := range map[string]string{"v0.33.0": "v0.37", "v0.36.9": "v0.37", "v0.37.0": "", "v0.38.1": ""} {
		p := look(t, project(t, "-- go.mod --\nmodule example.com/shop\n\nrequire k8s.io/apimachinery "+version+"\n"))
		if got := p.RaisedKubernetes(); got != want {
			t.Errorf("%s is raised to %q, want %q", version, got, want)
		}
	}
	devserver, err := os.ReadFile("../../../devserver/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(devserver), "\tk8s.io/apimachinery "+devserverKubernetes+".") {
		t.Errorf("devserver doesn't require k8s.io/apimachinery %s", devserverKubernetes)
	}
}

// TestControllerGenIsTheTestedVersion: that of the examples, which CI generates with it.
func TestControllerGenIsTheTestedVersion(t *testing.T) {
	examples, err := os.ReadFile("../../../examples/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if want := "\tsigs.k8s.io/controller-tools " + ControllerGenVersion; !strings.Contains(string(examples), want) {
		t.Errorf("the go.mod of the examples has no line %s", want)
	}
}

func TestControllersLineIsAdded(t *testing.T) {
	for config, want := range map[string]string{
		"version: 1\n": "version: 1\n\ncontrollers: true\n",
		"version: 1":   "version: 1\n\ncontrollers: true\n",
		"version: 1\ncontrollers: true\noutput: x\n":  "version: 1\ncontrollers: true\noutput: x\n",
		"version: 1\ncontrollers: false\noutput: x\n": "version: 1\ncontrollers: true\noutput: x\n",
		"version: 1\n# controllers: false\n\n":        "version: 1\n# controllers: false\n\ncontrollers: true\n",
		"{version: 1}\n":                              "",
		"version: 1\n...\n":                           "",
		"version: 2\n":                                "",
	} {
		got, err := withControllers([]byte(config))
		if string(got) != want || (err != nil) != (want == "") {
			t.Errorf("%q becomes %q, %v; want %q", config, got, err, want)
		}
	}
}
