// SPDX-License-Identifier: Apache-2.0

package house

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/informer-gen/informer-gen/"

// areas are the folders of the repository, each with its packages in layers, one a line; the first
// one knows the least. A package imports packages of the lines before its own, and of what its area
// sees. A new package needs its name here. For an import that runs the other way, move the code,
// not the line.
var areas = []area{
	{
		folder: "internal", // what two of the areas below share, and modules for tests
		layers: []string{"projecttest shard diag", "request"},
	},
	{
		folder: "runtime",
		sees:   []string{"internal"},
		layers: []string{
			"object metrics manager/election internal/layout internal/resourceversion internal/quantity",
			"deltafifo metrics/prometheus workqueue internal/metatype internal/placement internal/podtest informer/internal/changelog informer/internal/mutation internal/share internal/table internal/dropped",
			"internal/adopt informer/internal/pack internal/cborwire internal/jsondec internal/protodec internal/protowire store",
			"lister informer/internal/checkpoint internal/decode",
			"source",
			"reason writer",
			"reflector",
			"watch informer/internal/engine",
			"informer/internal/settings",
			"informer",
			"controller informer/factories",
			"inspect reconcile informer/internal/faulttest .",
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
		layers: []string{"sourcetest storetest", "sourcetest/patches", "controllertest"},
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
			"load marker yamldoc jsonpath output",
			"marker/kubebuilder report fields/internal/flow",
			"marker/syntax fields",
			"config crd skew",
			"index project",
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
		layers: []string{"v1 oracle", "keys"},
	},
	{
		folder: "cmd",
		sees:   []string{"generator", "internal/generator", "internal/diag"},
		layers: []string{"informer-gen"},
	},
	{
		folder: "cmd/informer-relay",
		sees:   []string{"runtime", "server", "internal/diag"},
		layers: []string{"internal/configfile", "internal/access", "internal/relay", "internal/demo", "."},
	},
	{
		folder: "devserver",
		layers: []string{"internal/etcdlog internal/builtin internal/deletion control", ".", "devservertest cmd/devserver"},
	},
	{
		folder: "examples/crd-sample",
		sees:   []string{"runtime", "testkit", "generator"},
		layers: []string{"api/v1alpha1", "."},
	},
	{
		folder: "examples/tutorial",
		sees:   []string{"runtime", "devserver"},
		layers: []string{"api/v1", "teams", "."},
	},
	{
		folder: "examples/endpoints-controller",
		sees:   []string{"runtime", "devserver"},
		layers: []string{"selectors", "endpoints", "reconciler", "."},
	},
	{
		folder: "test",
		sees:   []string{"runtime", "generator", "devserver", "examples/crd-sample", "examples/endpoints-controller"},
		layers: []string{"internal/endstate internal/writing", "interop corpus e2e model watchcache watchcache/clients watchcache/kubectl watchcache/storagesuite"},
	},
	{
		folder: "test/interop",
		sees:   []string{"adapter", "devserver", "test"},
		layers: []string{"certmanager controllerruntime kubebuilder/api/v1", "kubebuilder/internal/controller", "kubebuilder/cmd"},
	},
	{
		folder: "test/kubernetes",
		sees:   []string{"runtime", "internal/generator/fields", "examples/endpoints-controller", "test/internal"},
		layers: []string{"endpoints/kubeserver", "controllers endpoints fields writing"},
	},
	{
		folder: "bench",
		sees:   []string{"runtime", "server", "adapter", "devserver", "cmd"},
		layers: []string{
			"data probe",
			"server",
			"harness",
			"report rig",
			"watchcache/widget",
			"watchcache/local",
			"watchcache/remote",
			". generator soak watchcache",
		},
	},
}

// area is a folder of the repository, without the areas inside of it.
type area struct {
	folder string
	sees   []string // folders
	by     string   // the one package that sees them, if it is not all
	layers []string // of packages below folder; those of one line don't know each other
}

func TestNoImportRunsBackUp(t *testing.T) {
	imports := map[string][]string{} // by package, what its code imports of the repository
	for folder, files := range goFiles(t) {
		for _, f := range files {
			if strings.HasSuffix(f.path, "_test.go") {
				continue
			}
			if imports[folder] == nil {
				imports[folder] = []string{}
			}
			for _, i := range f.file.Imports {
				path, _ := strconv.Unquote(i.Path.Value)
				if path, ours := strings.CutPrefix(path, module); ours && !slices.Contains(imports[folder], path) {
					imports[folder] = append(imports[folder], path)
				}
			}
		}
	}
	for _, wrong := range runsBackUp(areas, imports) {
		t.Error(wrong)
	}
}

// runsBackUp returns the imports that the areas don't allow, the packages that they lack, and those
// that are there no longer.
func runsBackUp(areas []area, imports map[string][]string) (wrong []string) {
	layerOf := map[string]int{}
	for _, a := range areas {
		for n, layer := range a.layers {
			for name := range strings.FieldsSeq(layer) {
				path := strings.TrimSuffix(a.folder+"/"+name, "/.")
				layerOf[path] = n
				if _, ok := imports[path]; !ok {
					wrong = append(wrong, path+" is not there: take it out of the table of layers")
				}
			}
		}
	}
	for _, from := range slices.Sorted(maps.Keys(imports)) {
		layer, known := layerOf[from]
		if !known {
			wrong = append(wrong, from+" has no layer: add it to the table in test/house/layers_test.go")
			continue
		}
		own := areas[slices.IndexFunc(areas, func(a area) bool { return a.folder == areaOf(areas, from) })]
		for _, to := range imports[from] {
			switch {
			case areaOf(areas, to) == own.folder:
				if below, known := layerOf[to]; known && below >= layer {
					wrong = append(wrong, from+" imports "+to+", which is not in a layer below its own")
				}
			case !slices.ContainsFunc(own.sees, func(seen string) bool { return within(to, seen) }):
				wrong = append(wrong, from+" imports "+to+", which "+own.folder+" does not see")
			case own.by != "" && own.by != from:
				wrong = append(wrong, from+" imports "+to+", which only "+own.by+" may")
			}
		}
	}
	return wrong
}

// areaOf returns the folder of the innermost area that a package is in.
func areaOf(areas []area, path string) (folder string) {
	for _, a := range areas {
		if within(path, a.folder) && len(a.folder) > len(folder) {
			folder = a.folder
		}
	}
	return folder
}

// within reports whether a path is that of a folder, or lies below it.
func within(path, folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }

func TestLayersAreHeldAgainstImports(t *testing.T) {
	some := []area{
		{folder: "low", layers: []string{"a b", ".", "gone"}},
		{folder: "high", sees: []string{"low"}, by: "high", layers: []string{"a", "."}},
	}
	got := runsBackUp(some, map[string][]string{
		"low/a": {"low"}, "low/b": {"low/a", "high"}, "low": {"low/a"}, "low/new": nil, "high": {"low", "high/a"}, "high/a": {"low"},
	})
	want := []string{
		"low/gone is not there: take it out of the table of layers",
		"high/a imports low, which only high may",
		"low/a imports low, which is not in a layer below its own",
		"low/b imports low/a, which is not in a layer below its own",
		"low/b imports high, which low does not see",
		"low/new has no layer: add it to the table in test/house/layers_test.go",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
