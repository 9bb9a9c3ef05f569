// SPDX-License-Identifier: Apache-2.0

package runtime_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

const (
	module = "github.com/informer-gen/informer-gen/"
	base   = module + "runtime/"
)

// allowed says for each runtime package which of its neighbours it may reach, directly or not, and
// which packages of other modules it may import itself. A new line here is a decision: whoever
// imports the package pays for it.
var allowed = []struct {
	pkg     string
	reaches []string
	imports []string
}{
	{
		pkg:     "object",
		imports: []string{"k8s.io/apimachinery"},
	},
	{pkg: "internal/layout"},
	{
		pkg:     "internal/metatype",
		reaches: []string{"object"},
		imports: []string{"k8s.io/apimachinery"},
	},
	{
		pkg:     "internal/placement",
		reaches: []string{"object"},
		imports: []string{"k8s.io/api", "k8s.io/apimachinery"},
	},
	{pkg: "internal/shard"},
	{
		pkg:     "internal/share",
		reaches: []string{"internal/layout"},
	},
	{
		pkg:     "internal/adopt",
		reaches: []string{"object", "internal/layout", "internal/metatype", "internal/share"},
		imports: []string{"k8s.io/apimachinery"},
	},
	{
		pkg:     "source/internal/dropped",
		reaches: []string{"object"},
	},
	{
		pkg:     "source/internal/cborwire",
		reaches: []string{"object", "source/internal/dropped"},
	},
	{
		pkg:     "source/internal/protowire",
		reaches: []string{"object", "source/internal/dropped"},
	},
	{
		pkg:     "source/internal/quantity",
		imports: []string{"k8s.io/apimachinery"},
	},
	{
		pkg:     "source/internal/jsondec",
		reaches: []string{"object", "source/internal/dropped", "source/internal/quantity", "internal/layout", "internal/metatype", "internal/share"},
		imports: []string{"k8s.io/apimachinery"},
	},
	{
		pkg:     "source/internal/protodec",
		reaches: []string{"object", "source/internal/dropped", "source/internal/quantity", "internal/layout", "internal/metatype", "internal/share"},
		imports: []string{"k8s.io/apimachinery"},
	},
	{
		pkg:     "internal/table",
		reaches: []string{"object"},
	},
	{
		pkg:     "store",
		reaches: []string{"object", "internal/table"},
		imports: []string{"k8s.io/apimachinery"},
	},
	{
		pkg:     "lister",
		reaches: []string{"object", "internal/table", "store"},
		imports: []string{"k8s.io/apimachinery"},
	},
	{
		pkg:     "source/internal/decode",
		reaches: []string{"object", "internal/shard", "source/internal/cborwire", "source/internal/dropped", "source/internal/jsondec", "internal/layout", "internal/metatype", "source/internal/protodec", "source/internal/protowire", "source/internal/quantity", "internal/share"},
		imports: []string{"k8s.io/apimachinery", "k8s.io/klog/v2", "github.com/go-json-experiment/json", "sigs.k8s.io/json"},
	},
	{
		pkg:     "source",
		reaches: []string{"object", "internal/shard", "source/internal/decode", "source/internal/cborwire", "source/internal/dropped", "source/internal/jsondec", "internal/layout", "internal/metatype", "source/internal/protodec", "source/internal/protowire", "source/internal/quantity", "internal/share"},
		imports: []string{"k8s.io/apimachinery", "k8s.io/client-go/rest", "github.com/go-json-experiment/json"},
	},
	{
		pkg:     "reason",
		reaches: []string{"object", "source", "internal/shard", "source/internal/decode", "source/internal/cborwire", "source/internal/dropped", "source/internal/jsondec", "internal/layout", "internal/metatype", "source/internal/protodec", "source/internal/protowire", "source/internal/quantity", "internal/share"},
		imports: []string{"k8s.io/apimachinery"},
	},
	{
		pkg:     "writer",
		reaches: []string{"object", "source", "internal/shard", "source/internal/decode", "source/internal/cborwire", "source/internal/dropped", "source/internal/jsondec", "internal/layout", "internal/metatype", "source/internal/protodec", "source/internal/protowire", "source/internal/quantity", "internal/share"},
		imports: []string{"k8s.io/apimachinery"},
	},
	{pkg: "internal/resourceversion"},
	{
		pkg:     "reflector",
		reaches: []string{"reason", "object", "source", "internal/resourceversion", "internal/shard", "source/internal/decode", "source/internal/cborwire", "source/internal/dropped", "source/internal/jsondec", "internal/layout", "internal/metatype", "source/internal/protodec", "source/internal/protowire", "source/internal/quantity", "internal/share"},
		imports: []string{"k8s.io/apimachinery", "k8s.io/klog/v2"},
	},
	{
		pkg:     "watch",
		reaches: []string{"reason", "object", "source", "internal/resourceversion", "internal/shard", "source/internal/decode", "source/internal/cborwire", "source/internal/dropped", "source/internal/jsondec", "internal/layout", "internal/metatype", "source/internal/protodec", "source/internal/protowire", "source/internal/quantity", "internal/share", "reflector"},
		imports: []string{"k8s.io/apimachinery"},
	},
	{
		pkg:     "deltafifo",
		reaches: []string{"object"},
		imports: []string{"k8s.io/apimachinery"},
	},
	{pkg: "metrics"},
	{
		pkg:     "metrics/prometheus",
		reaches: []string{"metrics"},
		imports: []string{"github.com/prometheus/client_golang"},
	},
	{
		pkg:     "workqueue",
		reaches: []string{"metrics"},
	},
	{
		pkg:     "informer/internal/mutation",
		reaches: []string{"object"},
		imports: []string{"k8s.io/apimachinery", "k8s.io/klog/v2"},
	},
	{
		pkg:     "informer/internal/changelog",
		reaches: []string{"object"},
	},
	{
		pkg:     "informer/internal/pack",
		reaches: []string{"object", "internal/layout", "internal/metatype"},
		imports: []string{"k8s.io/apimachinery"},
	},
	{
		pkg:     "informer/internal/checkpoint",
		reaches: []string{"object", "internal/layout", "internal/metatype", "informer/internal/pack"},
	},
	{
		pkg:     "informer/internal/engine",
		reaches: []string{"reason", "object", "internal/adopt", "internal/table", "internal/resourceversion", "source", "internal/shard", "source/internal/decode", "source/internal/cborwire", "source/internal/dropped", "source/internal/jsondec", "internal/layout", "internal/metatype", "source/internal/protodec", "source/internal/protowire", "source/internal/quantity", "internal/share", "reflector", "deltafifo", "metrics", "informer/internal/changelog", "informer/internal/pack", "informer/internal/checkpoint", "informer/internal/mutation"},
		imports: []string{"k8s.io/apimachinery", "k8s.io/klog/v2"},
	},
	{
		pkg:     "informer/internal/settings",
		reaches: []string{"reason", "object", "internal/adopt", "internal/table", "informer/internal/engine", "internal/resourceversion", "source", "internal/shard", "source/internal/decode", "source/internal/cborwire", "source/internal/dropped", "source/internal/jsondec", "internal/layout", "internal/metatype", "source/internal/protodec", "source/internal/protowire", "source/internal/quantity", "internal/share", "reflector", "deltafifo", "metrics", "informer/internal/changelog", "informer/internal/pack", "informer/internal/checkpoint", "informer/internal/mutation"},
		imports: []string{"k8s.io/apimachinery", "k8s.io/klog/v2"},
	},
	{
		pkg:     "informer",
		reaches: []string{"reason", "object", "internal/adopt", "internal/table", "informer/internal/engine", "internal/resourceversion", "source", "internal/shard", "source/internal/decode", "source/internal/cborwire", "source/internal/dropped", "source/internal/jsondec", "internal/layout", "internal/metatype", "source/internal/protodec", "source/internal/protowire", "source/internal/quantity", "internal/share", "reflector", "deltafifo", "metrics", "informer/internal/changelog", "informer/internal/pack", "informer/internal/checkpoint", "informer/internal/mutation", "informer/internal/settings", "store"},
		imports: []string{"k8s.io/apimachinery", "k8s.io/klog/v2"},
	},
	{
		pkg:     "controller",
		reaches: []string{"reason", "object", "internal/adopt", "internal/table", "informer/internal/engine", "internal/resourceversion", "source", "internal/shard", "source/internal/decode", "source/internal/cborwire", "source/internal/dropped", "source/internal/jsondec", "internal/layout", "internal/metatype", "source/internal/protodec", "source/internal/protowire", "source/internal/quantity", "internal/share", "reflector", "deltafifo", "metrics", "workqueue", "informer/internal/changelog", "informer/internal/pack", "informer/internal/checkpoint", "informer/internal/mutation", "informer/internal/settings", "store", "informer"},
		imports: []string{"k8s.io/apimachinery", "k8s.io/klog/v2"},
	},
	{
		pkg:     "informer/factories",
		reaches: []string{"reason", "object", "internal/adopt", "internal/table", "informer/internal/engine", "internal/resourceversion", "source", "internal/shard", "source/internal/decode", "source/internal/cborwire", "source/internal/dropped", "source/internal/jsondec", "internal/layout", "internal/metatype", "source/internal/protodec", "source/internal/protowire", "source/internal/quantity", "internal/share", "reflector", "deltafifo", "metrics", "informer/internal/changelog", "informer/internal/pack", "informer/internal/checkpoint", "informer/internal/mutation", "informer/internal/settings", "store", "lister", "informer"},
		imports: []string{"k8s.io/apimachinery", "k8s.io/klog/v2"},
	},
	{
		pkg:     "controller/controllertest",
		reaches: []string{"reason", "object", "internal/adopt", "internal/table", "informer/internal/engine", "internal/resourceversion", "source", "source/sourcetest", "source/sourcetest/patches", "internal/request", "watchcache", "watchcache/internal/fieldpath", "watchcache/internal/rawjson", "watchcache/memory", "internal/shard", "source/internal/decode", "source/internal/cborwire", "source/internal/dropped", "source/internal/jsondec", "internal/layout", "internal/metatype", "source/internal/protodec", "source/internal/protowire", "source/internal/quantity", "internal/share", "reflector", "deltafifo", "metrics", "workqueue", "informer/internal/changelog", "informer/internal/pack", "informer/internal/checkpoint", "informer/internal/mutation", "informer/internal/settings", "store", "informer", "controller"},
		imports: []string{"github.com/go-logr/logr/testr", "k8s.io/klog/v2"},
	},
	{
		pkg:     "reconcile",
		reaches: []string{"reason", "object", "internal/adopt", "internal/table", "informer/internal/engine", "internal/resourceversion", "source", "internal/shard", "source/internal/decode", "source/internal/cborwire", "source/internal/dropped", "source/internal/jsondec", "internal/layout", "internal/metatype", "source/internal/protodec", "source/internal/protowire", "source/internal/quantity", "internal/share", "reflector", "deltafifo", "metrics", "workqueue", "informer/internal/changelog", "informer/internal/pack", "informer/internal/checkpoint", "informer/internal/mutation", "informer/internal/settings", "store", "lister", "informer", "informer/factories", "controller", "writer"},
		imports: []string{"k8s.io/apimachinery"},
	},
	{pkg: "watchcache/internal/fieldpath"},
	{
		pkg:     "watchcache/internal/rawjson",
		reaches: []string{"watchcache/internal/fieldpath"},
		imports: []string{"github.com/go-json-experiment/json"},
	},
	{
		pkg:     "watchcache",
		reaches: []string{"object", "internal/shard", "metrics", "watchcache/internal/fieldpath", "watchcache/internal/rawjson"},
		imports: []string{"github.com/go-json-experiment/json", "k8s.io/apimachinery", "k8s.io/klog/v2"},
	},
	{
		pkg:     "watchcache/upstream",
		reaches: []string{"object", "metrics", "source", "internal/shard", "source/internal/decode", "source/internal/cborwire", "source/internal/dropped", "source/internal/jsondec", "internal/layout", "internal/metatype", "source/internal/protodec", "source/internal/protowire", "source/internal/quantity", "internal/share", "watchcache", "watchcache/internal/fieldpath", "watchcache/internal/rawjson", "watchcache/protobuf"},
		imports: []string{"k8s.io/apimachinery"},
	},
	{
		pkg:     "watchcache/protobuf",
		reaches: []string{"object", "internal/shard", "metrics", "watchcache", "watchcache/internal/fieldpath", "watchcache/internal/rawjson"},
		imports: []string{"google.golang.org/protobuf/encoding/protowire", "k8s.io/apimachinery"},
	},
	{
		pkg:     "watchcache/memory",
		reaches: []string{"object", "internal/shard", "metrics", "watchcache", "watchcache/internal/fieldpath", "watchcache/internal/rawjson"},
		imports: []string{"k8s.io/apimachinery"},
	},
	{
		pkg:     "inspect",
		reaches: []string{"reason", "object", "internal/adopt", "internal/table", "informer/internal/engine", "internal/resourceversion", "source", "internal/shard", "source/internal/decode", "source/internal/cborwire", "source/internal/dropped", "source/internal/jsondec", "internal/layout", "internal/metatype", "source/internal/protodec", "source/internal/protowire", "source/internal/quantity", "internal/share", "reflector", "deltafifo", "metrics", "informer/internal/changelog", "informer/internal/pack", "informer/internal/checkpoint", "informer/internal/mutation", "informer/internal/settings", "store", "lister", "informer", "informer/factories", "workqueue", "controller"},
	},
	{
		pkg:     "manager",
		reaches: []string{"reason", "object", "internal/adopt", "internal/table", "informer/internal/engine", "internal/resourceversion", "source", "internal/shard", "source/internal/decode", "source/internal/cborwire", "source/internal/dropped", "source/internal/jsondec", "internal/layout", "internal/metatype", "source/internal/protodec", "source/internal/protowire", "source/internal/quantity", "internal/share", "reflector", "deltafifo", "metrics", "informer/internal/changelog", "informer/internal/pack", "informer/internal/checkpoint", "informer/internal/mutation", "informer/internal/settings", "store", "lister", "informer", "informer/factories", "workqueue", "controller", "inspect"},
		imports: []string{"github.com/spf13/pflag", "k8s.io/client-go/rest", "k8s.io/klog/v2"},
	},
	{
		// Leases are client-go's election, which brings all of its typed clients. So it is apart.
		pkg:     "manager/election",
		imports: []string{"github.com/spf13/pflag", "k8s.io/apimachinery", "k8s.io/client-go/informers", "k8s.io/client-go/kubernetes", "k8s.io/client-go/listers", "k8s.io/client-go/rest", "k8s.io/client-go/tools/cache", "k8s.io/client-go/tools/leaderelection", "k8s.io/klog/v2"},
	},
	{
		pkg:     "store/storetest",
		reaches: []string{"object", "internal/table", "store"},
		imports: []string{"k8s.io/apimachinery"},
	},
	{
		pkg:     "source/sourcetest",
		reaches: []string{"object", "internal/request", "internal/shard", "metrics", "watchcache", "watchcache/internal/fieldpath", "watchcache/internal/rawjson", "watchcache/memory"},
		imports: []string{"gopkg.in/evanphx/json-patch.v4", "k8s.io/apimachinery", "k8s.io/client-go/rest"},
	},
	{
		pkg:     "source/sourcetest/patches",
		imports: []string{"k8s.io/apimachinery"},
	},
	{
		pkg:     "source/internal/podtest",
		reaches: []string{"object"},
		imports: []string{"k8s.io/api", "k8s.io/apimachinery"},
	},
	{
		pkg:     "internal/request",
		reaches: []string{"internal/shard"},
		imports: []string{"k8s.io/apimachinery"},
	},
	{
		pkg:     "watchcache/serve",
		reaches: []string{"object", "internal/shard", "metrics", "watchcache", "watchcache/internal/fieldpath", "watchcache/internal/rawjson", "internal/request", "watchcache/protobuf"},
		imports: []string{"k8s.io/apimachinery"},
	},
	{pkg: "informer/internal/faulttest"},
	{
		pkg:     "informer/internal/informertest",
		reaches: []string{"reason", "object", "internal/adopt", "internal/table", "informer/internal/engine", "internal/resourceversion", "source", "internal/shard", "source/internal/decode", "source/internal/cborwire", "source/internal/dropped", "source/internal/jsondec", "internal/layout", "internal/metatype", "source/internal/protodec", "source/internal/protowire", "source/internal/quantity", "internal/share", "reflector", "deltafifo", "metrics", "informer/internal/changelog", "informer/internal/pack", "informer/internal/checkpoint", "informer/internal/mutation", "informer/internal/settings", "store", "lister", "informer", "informer/factories", "source/sourcetest", "internal/request", "watchcache", "watchcache/internal/fieldpath", "watchcache/internal/rawjson", "watchcache/memory"},
		imports: []string{"github.com/google/go-cmp", "k8s.io/api", "k8s.io/apimachinery"},
	},
	{pkg: ""},
}

// never is what no runtime package reaches, by whatever way, unless its own line allows the import.
var never = []string{
	module + "generator",
	module + "templates",
	"github.com/dave/jennifer",
	"github.com/prometheus",
	"github.com/spf13",
	"go.etcd.io",
	"golang.org/x/tools",
	"k8s.io/apiextensions-apiserver",
	"k8s.io/apiserver",
	"k8s.io/client-go/dynamic",
	"k8s.io/client-go/informers",
	"k8s.io/client-go/kubernetes",
	"k8s.io/client-go/listers",
	"k8s.io/client-go/tools/cache",
	"k8s.io/client-go/tools/leaderelection",
	"k8s.io/gengo",
	"sigs.k8s.io/controller-runtime",
}

func TestDependencies(t *testing.T) {
	packages, err := listed()
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range allowed {
		pkg := strings.TrimSuffix(base+rule.pkg, "/")
		t.Run("runtime/"+rule.pkg, func(t *testing.T) {
			known, ok := packages[pkg]
			if !ok {
				t.Fatal("there is no such package")
			}
			for _, dep := range known.Deps {
				if own, ok := strings.CutPrefix(dep, base); ok && dep != pkg && !slices.Contains(rule.reaches, own) {
					t.Errorf("reaches %s, which its line in the table does not allow", own)
				}
				for _, path := range never {
					if within(dep, path) && !slices.ContainsFunc(rule.imports, func(own string) bool { return within(own, path) }) {
						t.Errorf("reaches %s, which no runtime package may", dep)
					}
				}
			}
			for _, dep := range known.Imports {
				if !strings.Contains(dep, ".") || strings.HasPrefix(dep, module) {
					continue
				}
				if !slices.ContainsFunc(rule.imports, func(path string) bool { return within(dep, path) }) {
					t.Errorf("imports %s, which its line in the table does not allow", dep)
				}
			}
		})
	}
}

// TestDependencyTableIsComplete fails when a package has no line in the table.
func TestDependencyTableIsComplete(t *testing.T) {
	var known []string
	for _, rule := range allowed {
		known = append(known, strings.TrimSuffix(base+rule.pkg, "/"))
	}
	packages, err := listed()
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range packages {
		if !slices.Contains(known, pkg) {
			t.Errorf("%s has no line in the table", pkg)
		}
	}
}

// within reports whether the import path is path or lies below it.
func within(importPath, path string) bool {
	rest, ok := strings.CutPrefix(importPath, path)
	return ok && (rest == "" || rest[0] == '/')
}

// listing is what go list knows of a package.
type listing struct {
	ImportPath    string
	Imports, Deps []string // Deps: what it imports, directly or not
}

// listed returns the packages of the runtime, by import path.
var listed = sync.OnceValues(func() (map[string]listing, error) {
	out, err := goList("-json=ImportPath,Imports,Deps", base+"...")
	packages := map[string]listing{}
	for lines := json.NewDecoder(strings.NewReader(out)); err == nil && lines.More(); {
		var p listing
		err = lines.Decode(&p)
		packages[p.ImportPath] = p
	}
	return packages, err
})

// list runs go list and returns its lines.
func list(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := goList(args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(out)
}

// goList runs go list and returns what it writes.
func goList(args ...string) (string, error) {
	command := exec.Command("go", append([]string{"list"}, args...)...)
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("go list %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out), nil
}
