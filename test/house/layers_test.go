// SPDX-License-Identifier: Apache-2.0

package house

import (
	"slices"
	"strings"
	"testing"
)

const module = "github.com/informer-gen/informer-gen/"

// areas are the folders of the repository, each with its packages in layers, one per line, from the
// bottom up. A package may import packages of lower layers, and of the areas in sees. A new package
// needs its name here. If an import runs the other way, move the code, not the line.
var areas = []area{
	{
		folder: "internal", // shared by several of the areas below; modules for tests
		layers: []string{"btree projecttest shard diag", "rbac request"},
	},
	{
		folder: "runtime",
		sees:   []string{"internal"},
		layers: []string{
			"object metrics manager/access internal/layout internal/resourceversion internal/quantity",
			"internal/partition",
			"internal/gotype manager/internal/fence",
			"manager/election deltafifo metrics/prometheus workqueue internal/placement internal/podtest informer/internal/mutation informer/internal/outcome internal/share internal/table internal/dropped",
			"internal/adopt internal/jsondec internal/protodec internal/protowire store",
			"lister internal/decode informer/internal/changelog",
			"source informer/internal/checkpoint",
			"reason writer",
			"reflector manager/events",
			"watch informer/internal/intake informer/internal/fanout",
			"informer/internal/engine",
			"informer/internal/settings",
			"informer",
			"informer/factories",
			"controller manager/shard",
			"inspect informer/internal/faulttest .",
			"manager",
		},
	},
	{
		folder: "server",
		sees:   []string{"runtime", "internal"},
		layers: []string{
			"internal/fieldpath",
			"internal/rawjson",
			"watchcache",
			"memory protobuf",
			"serve upstream",
		},
	},
	{
		folder: "testkit",
		sees:   []string{"runtime", "server", "internal"},
		layers: []string{"rbactest sourcetest storetest", "sourcetest/patches", "controllertest"},
	},
	{
		folder: "internal/informertest", // for tests
		sees:   []string{"runtime", "testkit"},
		layers: []string{"."},
	},
	{
		folder: "adapter",
		sees:   []string{"runtime", "server"},
		layers: []string{"internal/checker", "clientgo etcd", "controllerruntime"},
	},
	{
		folder: "templates",
		sees:   []string{"internal/generator/model"},
		layers: []string{"."},
	},
	{
		folder: "internal/generator",
		sees:   []string{"internal/diag"},
		layers: []string{
			"model names gotypes",
			"load marker yamldoc jsonpath output typename",
			"marker/kubebuilder report fields/internal/flow",
			"marker/syntax fields",
			"config crd skew",
			"apply index project",
			"resolve",
		},
	},
	{
		folder: "generator",
		sees:   []string{"internal/generator", "internal/diag", "templates"},
		layers: []string{"."},
	},
	{
		folder: "internal/generator/scaffold",
		sees:   []string{"generator", "internal/generator", "internal/diag"},
		layers: []string{"."},
	},
	{
		folder: "internal/generator/shapes",
		sees:   []string{"runtime"},
		layers: []string{"oracle"},
	},
	{
		folder: "cmd",
		sees:   []string{"generator", "internal/generator", "internal/diag", "internal/rbac"},
		layers: []string{"informer-gen"},
	},
	{
		folder: "cmd/informer-relay",
		sees:   []string{"runtime", "server", "internal/diag"},
		layers: []string{"internal/configfile", "internal/access", "internal/relay", "internal/demo", "."},
	},
	{
		folder: "devserver",
		layers: []string{"internal/etcdlog internal/builtin internal/rbac internal/deletion control", ".", "devservertest cmd/devserver"},
	},
	{
		folder: "examples/crd-sample",
		sees:   []string{"runtime", "testkit", "generator"},
		layers: []string{"api/v1alpha1", "."},
	},
	{
		folder: "examples/tutorial",
		sees:   []string{"runtime", "devserver"},
		layers: []string{"api/v1", "counter teams", "."},
	},
	{
		folder: "examples/webhooks",
		sees:   []string{"runtime", "devserver", "adapter"},
		layers: []string{"api/v1", "api/v1beta1", "hooks", "."},
	},
	{
		folder: "examples/database",
		sees:   []string{"runtime", "devserver", "adapter"},
		layers: []string{"api/v1", "api/v1beta1", "databases hooks", "."},
	},
	{
		folder: "examples/sharded",
		sees:   []string{"runtime", "devserver", "adapter"},
		layers: []string{"."},
	},
	{
		folder: "examples/endpoints-controller",
		sees:   []string{"runtime", "devserver"},
		layers: []string{"selectors", "endpoints", "reconciler", "."},
	},
	{
		folder: "test",
		sees:   []string{"runtime", "server", "generator", "devserver", "examples/crd-sample", "examples/endpoints-controller"},
		layers: []string{"internal/address internal/caches internal/endstate internal/poll", "internal/realserver", "interop corpus e2e model sharding watchcache watchcache/clients watchcache/kubectl watchcache/storagesuite"},
	},
	{
		folder: "test/interop",
		sees:   []string{"adapter", "devserver", "test"},
		layers: []string{"certmanager controllerruntime kubectl kubebuilder/api/v1", "kubebuilder/internal/controller", "kubebuilder/cmd"},
	},
	{
		folder: "test/kubernetes",
		sees:   []string{"runtime", "internal/generator", "examples/endpoints-controller", "test/internal"},
		layers: []string{"endpoints/kubeserver", "controllers endpoints fields informers refusals"},
	},
	{
		folder: "bench",
		sees:   []string{"runtime", "server", "adapter", "devserver", "cmd", "testkit"},
		layers: []string{
			"data probe",
			"server",
			"harness",
			"report rig",
			". generator shard soak watchcache",
		},
	},
}

// area is a folder of the repository, without the areas inside of it.
type area struct {
	folder string
	sees   []string // folders
	layers []string // of packages below folder; packages of one line don't import each other
}

func TestImportsFollowLayers(t *testing.T) {
	imports := map[string]map[string]bool{} // the repository's packages imported by each package
	for folder, files := range goFiles(t) {
		for _, f := range files {
			if strings.HasSuffix(f.path, "_test.go") {
				continue
			}
			if imports[folder] == nil {
				imports[folder] = map[string]bool{}
			}
			for _, i := range f.file.Imports {
				if path, ours := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), module); ours {
					imports[folder][path] = true
				}
			}
		}
	}
	layerOf := map[string]int{}
	for _, a := range areas {
		for n, layer := range a.layers {
			for name := range strings.FieldsSeq(layer) {
				path := strings.TrimSuffix(a.folder+"/"+name, "/.")
				if layerOf[path] = n; imports[path] == nil {
					t.Errorf("%s has a layer but doesn't exist: remove it from areas", path)
				}
			}
		}
	}
	for from, all := range imports {
		layer, known := layerOf[from]
		if !known {
			t.Errorf("%s has no layer: add it to areas", from)
			continue
		}
		own := areaOf(from)
		for to := range all {
			if areaOf(to).folder == own.folder {
				if layerOf[to] >= layer {
					t.Errorf("%s imports %s, which is in no layer below its own", from, to)
				}
			} else if !slices.ContainsFunc(own.sees, func(seen string) bool { return within(to, seen) }) {
				t.Errorf("%s imports %s, which %s does not see", from, to, own.folder)
			}
		}
	}
}

// areaOf returns the innermost area of a package.
func areaOf(path string) (found area) {
	for _, a := range areas {
		if within(path, a.folder) && len(a.folder) > len(found.folder) {
			found = a
		}
	}
	return found
}

// within reports whether a path is a folder, or lies below it.
func within(path, folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }
