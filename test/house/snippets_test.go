// SPDX-License-Identifier: Apache-2.0

package house

import (
	"errors"
	"go/ast"
	"go/doc/comment"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// compiledElsewhere are the files whose Go code another test compiles, or compares with compiled
// code.
var compiledElsewhere = map[string]bool{
	"README.md":                      true,
	"docs/generated.md":              true,
	"docs/indexes.md":                true,
	"docs/projections.md":            true,
	"docs/testing.md":                true,
	"docs/tutorial.md":               true,
	"docs/writes.md":                 true,
	"devserver/doc.go":               true,
	"devserver/devservertest/doc.go": true,
	"testkit/controllertest/doc.go":  true,
	"testkit/rbactest/doc.go":        true,
}

// shownImports are the imports of all snippets.
const shownImports = `import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/informer-gen/informer-gen/adapter/clientgo"
	"github.com/informer-gen/informer-gen/adapter/controllerruntime"
	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/devserver/control"
	"github.com/informer-gen/informer-gen/devserver/devservertest"
	shopv1 "github.com/informer-gen/informer-gen/examples/crd-sample/api/v1alpha1"
	shopfactory "github.com/informer-gen/informer-gen/examples/crd-sample/generated/informers"
	shopinformers "github.com/informer-gen/informer-gen/examples/crd-sample/generated/informers/samples/v1alpha1"
	shoplisters "github.com/informer-gen/informer-gen/examples/crd-sample/generated/listers/samples/v1alpha1"
	"github.com/informer-gen/informer-gen/examples/webhooks/hooks"
	"github.com/informer-gen/informer-gen/generator"
	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/inspect"
	"github.com/informer-gen/informer-gen/runtime/lister"
	"github.com/informer-gen/informer-gen/runtime/manager"
	"github.com/informer-gen/informer-gen/runtime/manager/access"
	"github.com/informer-gen/informer-gen/runtime/manager/election"
	"github.com/informer-gen/informer-gen/runtime/manager/shard"
	informermetrics "github.com/informer-gen/informer-gen/runtime/metrics/prometheus"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
	"github.com/informer-gen/informer-gen/runtime/watch"
	"github.com/informer-gen/informer-gen/runtime/writer"
)
`

// shownBefore has declarations that the snippets of a file use and don't show.
var shownBefore = map[string]string{
	"adapter/clientgo/factory.go": `
		var config *rest.Config`,
	"devserver/control/doc.go": `
		var ctx context.Context`,
	"devserver/devservertest/account.go": `
		var t *testing.T`,
	"devserver/devservertest/webhooks.go": `
		var t *testing.T
		var server *devserver.Server`,
	"docs/controllers.md": `
		var widgets shopinformers.WidgetInformer
		var pods *informer.SharedIndexInformer[*corev1.Pod]
		var sites shopinformers.SiteInformer
		var ctx context.Context
		var config *rest.Config
		var options manager.Options
		var database interface{ PingContext(context.Context) error }`,
	"docs/faq.md": `
		var client *source.Client`,
	"docs/generator.md": `
		var widgets shopinformers.WidgetInformer`,
	"docs/migrate.md": `
		var ctx context.Context
		var config *rest.Config
		var mgr ctrl.Manager
		var typed *informer.SharedIndexInformer[*corev1.Pod]`,
	"docs/operations.md": `
		var config *rest.Config
		var client *source.Client
		var factory *factories.Factory`,
	"docs/sharding.md": `
		var ctx context.Context
		var config *rest.Config
		var inner ctrlreconcile.Reconciler
		var reconcile func(context.Context, *shopv1.Widget) (controller.Result, error)`,
	"docs/webhooks.md": `
		var t *testing.T
		var config *rest.Config
		var factory *factories.Factory
		var leader *election.Election
		var newTeams func(context.Context, *manager.Context) (manager.Runnable, error)
		var scheme *runtime.Scheme
		var certs string`,
	"runtime/controller/context.go": `
		type Widget = shopv1.Widget
		var client *source.Client
		resource := shopv1.GroupVersion.WithResource("widgets")`,
	"runtime/controller/doc.go": `
		var ctx context.Context
		var factory shopfactory.SharedInformerFactory
		var widgets *informer.SharedIndexInformer[*shopv1.Widget]
		var pods *informer.SharedIndexInformer[*corev1.Pod]
		var sites shopinformers.SiteInformer
		var reconcile controller.Reconcile`,
	"runtime/controller/watch.go": `
		var nodes *informer.SharedIndexInformer[*corev1.Node]
		var podsByNode *store.Index[*corev1.Pod, string]`,
	"runtime/informer/factories/doc.go": `
		var ctx context.Context
		var client *source.Client`,
	"runtime/informer/informer.go": `
		var ctx context.Context
		var pods *informer.SharedIndexInformer[*corev1.Pod]`,
	"runtime/inspect/controller.go": `
		var factory *factories.Factory
		var widgets, pods *controller.Controller`,
	"runtime/inspect/doc.go": `
		var mux *http.ServeMux
		var factory *factories.Factory`,
	"runtime/lister/selecting.go": `
		var pod *corev1.Pod
		var replicaSets lister.Lister[*appsv1.ReplicaSet]`,
	"runtime/manager/doc.go": `
		var ctx context.Context
		var config *rest.Config
		var factory *factories.Factory
		var newWidgets, newGadgets func(context.Context, *manager.Context) (manager.Runnable, error)`,
	"runtime/manager/election/doc.go": `
		var ctx context.Context
		var config *rest.Config
		var lead func(context.Context) error`,
	"runtime/manager/shard/doc.go": `
		var config *rest.Config
		var client *source.Client`,
	"runtime/manager/access/access.go": `
		var config *rest.Config
		var options manager.Options`,
	"runtime/metrics/prometheus/doc.go": `
		var client *source.Client
		var registry *prometheus.Registry
		var registerer prometheus.Registerer`,
	"testkit/sourcetest/doc.go": `
		var ctx context.Context
		var server *sourcetest.Server`,
	"runtime/watch/doc.go": `
		type Job = batchv1.Job
		var ctx context.Context
		var job *Job
		var jobs source.Source[*Job]
		var client interface {
			Create(context.Context, *Job) (*Job, error)
		}`,
	"runtime/writer/doc.go": `
		type Widget = shopv1.Widget
		var ctx context.Context
		var client *source.Client
		resource := shopv1.GroupVersion.WithResource("widgets")
		var cached *Widget
		var cache *informer.SharedIndexInformer[*Widget]`,
}

// snippet is Go code of a page or a doc comment.
type snippet struct {
	path string
	line int
	code string
}

// TestShownCodeCompiles type-checks the Go code of pages and doc comments: whole files as they are,
// all other code as the body of a function. An ellipsis (…) stands for statements.
func TestShownCodeCompiles(t *testing.T) {
	snippets := append(snippetsOfPages(t), snippetsOfComments(t)...)
	set := token.NewFileSet()
	compiled := compiledImports(t, set)
	checked := map[string]bool{}
	for _, s := range snippets {
		checked[s.path] = true
		for _, err := range typeErrors(s, set, compiled) {
			t.Errorf("%s:%d: %v in\n%s", s.path, s.line, err, s.code)
		}
	}
	for path := range shownBefore {
		if !checked[path] {
			t.Errorf("no snippet of %s needs its declarations in shownBefore", path)
		}
	}
	if len(snippets) < 20 {
		t.Errorf("found only %d snippets", len(snippets))
	}
}

// typeErrors returns the type errors of a snippet, except unused declarations.
func typeErrors(s snippet, set *token.FileSet, compiled types.Importer) (wrong []error) {
	file, err := parser.ParseFile(set, "", wholeFile(s), parser.SkipObjectResolution)
	if err != nil {
		return []error{err}
	}
	config := types.Config{Importer: compiled, Error: func(err error) {
		if at, ok := err.(types.Error); ok && !at.Soft {
			wrong = append(wrong, errors.New(at.Msg))
		}
	}}
	_, _ = config.Check("shown", set, []*ast.File{file}, nil)
	return wrong
}

var goFence = regexp.MustCompile("(?ms)^```go[^\n]*\n(.*?)^```$")

// snippetsOfPages returns the blocks of Go code in Markdown files.
func snippetsOfPages(t *testing.T) (snippets []snippet) {
	t.Helper()
	for path, content := range files(t, ".md") {
		for _, at := range goFence.FindAllSubmatchIndex(content, -1) {
			if !compiledElsewhere[path] {
				line := 1 + strings.Count(string(content[:at[2]]), "\n")
				snippets = append(snippets, snippet{path, line, string(content[at[2]:at[3]])})
			}
		}
	}
	return snippets
}

// snippetsOfComments returns the indented Go code of doc comments.
func snippetsOfComments(t *testing.T) (snippets []snippet) {
	t.Helper()
	for _, folder := range goFiles(t) {
		for _, f := range folder {
			if strings.HasSuffix(f.path, "_test.go") || compiledElsewhere[f.path] {
				continue
			}
			for _, group := range f.file.Comments {
				for _, block := range new(comment.Parser).Parse(group.Text()).Content {
					if code, ok := block.(*comment.Code); ok && isGo(code.Text) {
						snippets = append(snippets, snippet{f.path, f.set.Position(group.Pos()).Line, code.Text})
					}
				}
			}
		}
	}
	return snippets
}

// isGo reports whether a block of a comment has Go statements: one of them declares, loops, or
// calls a method or a function of a package.
func isGo(code string) bool {
	file, err := parser.ParseFile(token.NewFileSet(), "", wholeFile(snippet{code: code}), 0)
	if err != nil {
		return false
	}
	found := false
	ast.Inspect(file.Decls[len(file.Decls)-1], func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt, *ast.RangeStmt:
			found = true
		case *ast.CallExpr:
			_, selected := n.Fun.(*ast.SelectorExpr)
			found = found || selected
		}
		return !found
	})
	return found
}

// wholeFile returns a Go file with the snippet, or the snippet if it is a file.
func wholeFile(s snippet) string {
	if strings.HasPrefix(s.code, "package ") {
		return s.code
	}
	code := strings.ReplaceAll(s.code, "…", `panic("")`)
	return "package shown\n\n" + shownImports + "\nfunc _() {\n" + shownBefore[s.path] + "\n{\n" + code + "\n}\n}\n"
}

// compiledImports compiles the imports of snippets in the workspace.
func compiledImports(t *testing.T, set *token.FileSet) types.Importer {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", "package shown\n"+shownImports, 0)
	if err != nil {
		t.Fatal(err)
	}
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}")
	for _, i := range file.Imports {
		list.Args = append(list.Args, strings.Trim(i.Path.Value, `"`))
	}
	workspace, err := filepath.Abs(filepath.Join(root, "go.work"))
	if err != nil {
		t.Fatal(err)
	}
	list.Env = append(os.Environ(), "GOWORK="+workspace)
	var stderr strings.Builder
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", list, err, stderr.String())
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, export, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[path] = export
	}
	return importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
}
