// SPDX-License-Identifier: Apache-2.0

package release

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestRead generates code for a project on controller-runtime v0.24, and runs a program that has
// README.md's code.
func TestRead(t *testing.T) {
	p := newProject(t, "shop")
	before := p.requirements()
	script, err := txtar.ParseFile(filepath.Join(root, "cmd/informer-gen/testdata/script/new_user.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(script.Files, func(f txtar.File) bool { return f.Name == "nodes/main.go" })
	p.write("main.go", string(script.Files[at].Data))
	p = p.serveObjects()
	p.run("go", "get", "-tool", rootPath+"/cmd/informer-gen")
	p.run("go", "tool", "informer-gen")
	p.run("go", "mod", "tidy")
	if out, want := p.run("go", "run", "."), "on node-7: blue\n"; out != want {
		t.Errorf("the program prints %q, want %q", out, want)
	}
	p.checkKept(before)
}

// TestMigrate compiles all Go code of docs/migrate.md, and runs its factories, managers and
// informers.
func TestMigrate(t *testing.T) {
	p := newProject(t, "shop")
	before := p.requirements()
	p.copy("migrate", "migrate")
	program, want := migrateProgram(t)
	p.write("migrate/page.go", program)
	p = p.serveObjects()
	p.run("go", "get", "-tool", rootPath+"/cmd/informer-gen")
	p.run("go", "tool", "informer-gen")
	p.run("go", "mod", "tidy")
	if out := p.run("go", "run", "./migrate"); out != want {
		t.Errorf("the code of docs/migrate.md prints\n%swant\n%s", out, want)
	}
	p.checkKept(before)
}

// shownImports are the imports of the code in docs/migrate.md.
var shownImports = []struct{ name, path string }{
	{"context", "context"},
	{"fmt", "fmt"},
	{"clientgo", rootPath + "/adapter/clientgo"},
	{"controllerruntime", rootPath + "/adapter/controllerruntime"},
	{"informer", rootPath + "/runtime/informer"},
	{"source", rootPath + "/runtime/source"},
	{"shopfactory", "example.com/shop/generated/informers"},
	{"shopv1", "example.com/shop/samples/v1alpha1"},
	{"cache", "k8s.io/client-go/tools/cache"},
	{"corev1", "k8s.io/api/core/v1"},
	{"ctrl", "sigs.k8s.io/controller-runtime"},
	{"fields", "k8s.io/apimachinery/pkg/fields"},
	{"informers", "k8s.io/client-go/informers"},
	{"kubernetes", "k8s.io/client-go/kubernetes"},
	{"rest", "k8s.io/client-go/rest"},
}

var goBlock = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")

// migrateProgram returns a file with a function for each block of Go code in docs/migrate.md.
// Output is the output of a program that calls all functions with a factory, a manager or an
// informer.
func migrateProgram(t *testing.T) (program, output string) {
	t.Helper()
	text := page(t, "docs/migrate.md")
	var functions, blocks, imports strings.Builder
	for _, at := range goBlock.FindAllStringSubmatchIndex(text, -1) {
		code, line := text[at[2]:at[3]], 1+strings.Count(text[:at[2]], "\n")
		fmt.Fprintf(&functions, "func line%d(ctx context.Context, config *rest.Config, mgr ctrl.Manager, "+
			"typed *informer.SharedIndexInformer[*corev1.Pod]) {\n{\n%s", line, code)
		for _, name := range declared(t, code) {
			fmt.Fprintf(&functions, "\t_ = %s\n", name)
			has := map[string]string{"factory": "shop/blue", "mgr": "shop/blue", "nodeInformer": "blue"}[name]
			if has != "" {
				fmt.Fprintf(&functions, "\tcheck(err)\n\tshow(ctx, %d, %s)\n", line, name)
				fmt.Fprintf(&blocks, "line%d, ", line)
				output += fmt.Sprintf("line %d has [%s]\n", line, has)
			}
		}
		functions.WriteString("}\n}\n\n")
	}
	for _, i := range shownImports {
		if strings.Contains(functions.String(), i.name+".") {
			fmt.Fprintf(&imports, "\t%s %q\n", i.name, i.path)
		}
	}
	return fmt.Sprintf("package main\n\nimport (\n%s)\n\n%svar blocks = []func(context.Context, *rest.Config, ctrl.Manager, "+
		"*informer.SharedIndexInformer[*corev1.Pod]){%s}\n", &imports, &functions, &blocks), output
}

// declared returns the names declared by statements.
func declared(t *testing.T, code string) (names []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc _() {\n"+code+"}", 0)
	if err != nil {
		t.Fatalf("%v in\n%s", err, code)
	}
	for _, statement := range file.Decls[0].(*ast.FuncDecl).Body.List {
		switch s := statement.(type) {
		case *ast.AssignStmt:
			for _, left := range s.Lhs {
				if name, ok := left.(*ast.Ident); ok && s.Tok == token.DEFINE && !slices.Contains(names, name.Name) {
					names = append(names, name.Name)
				}
			}
		case *ast.DeclStmt:
			for _, spec := range s.Decl.(*ast.GenDecl).Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					names = append(names, name.Name)
				}
			}
		}
	}
	return names
}

// page returns the content of a file of the repository.
func page(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// serveObjects starts an API server in memory with a Pod, a Node and two Widgets, all named blue.
// It returns the project with KUBECONFIG in its environment.
func (p project) serveObjects() project {
	p.t.Helper()
	server := sourcetest.New()
	pods := sourcetest.Serve[*corev1.Pod](server, corev1.SchemeGroupVersion.WithResource("pods"), "Pod")
	pods.Create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "blue"}})
	nodes := sourcetest.Serve[*corev1.Node](server, corev1.SchemeGroupVersion.WithResource("nodes"), "Node")
	nodes.Create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "blue"}})
	for _, version := range []schema.GroupVersion{
		{Group: "shop.example.com", Version: "v1"},
		{Group: "samples.example.com", Version: "v1alpha1"},
	} {
		widgets := sourcetest.Serve[*unstructured.Unstructured](server, version.WithResource("widgets"), "Widget")
		widgets.Create(&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": version.String(), "kind": "Widget",
			"metadata": map[string]any{"namespace": "shop", "name": "blue"},
			"spec":     map[string]any{"nodeName": "node-7"},
		}})
	}

	// The server lacks discovery, which controller-runtime needs to find a kind's resource.
	mux := http.NewServeMux()
	mux.Handle("/", server)
	for path, answer := range map[string]string{
		"/api":    `{"versions": ["v1"]}`,
		"/apis":   `{"groups": []}`,
		"/api/v1": `{"groupVersion": "v1", "resources": [{"name": "pods", "kind": "Pod", "namespaced": true, "verbs": ["list", "watch"]}]}`,
	} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, answer)
		})
	}
	listener := httptest.NewServer(mux)
	p.t.Cleanup(listener.Close)

	kubeconfig := filepath.Join(p.t.TempDir(), "kubeconfig")
	config := clientcmdapi.NewConfig()
	config.Clusters["test"] = &clientcmdapi.Cluster{Server: listener.URL}
	config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test"}
	config.CurrentContext = "test"
	if err := clientcmd.WriteToFile(*config, kubeconfig); err != nil {
		p.t.Fatal(err)
	}
	p.env = append(slices.Clone(p.env), "KUBECONFIG="+kubeconfig)
	return p
}
