// SPDX-License-Identifier: Apache-2.0

package buildcache

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/informer-gen/informer-gen/generator"
	"github.com/informer-gen/informer-gen/internal/projecttest"
)

// project has one of everything that a run depends on. Folders are below that of the main
// module, but for lib.
const project = `
-- main/informer-gen.yaml --
version: 1
inputs: [./api/...]
header: hack/header.txt
crds: [crds]
-- main/hack/header.txt --
// Copyright.
-- main/crds/widgets.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions: [{name: v1, served: true, storage: true}]
-- main/api/v1/doc.go --
// +groupName=example.com
package v1
-- main/api/v1/types.go --
package v1

import (
	"io/fs"
	"example.com/lib"
	"example.com/main/common"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Widget is an example.
// +genclient
// +informer:index:name=ByNode,field=.node
type Widget struct {
	metav1.TypeMeta ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `
	Node common.Name ` + "`json:\"node\"`" + `
	Lib  lib.Lib
}

func (w *Widget) DeepCopyObject() runtime.Object { return w }

// +genclient:nonNamespaced
type Other struct{}
-- main/api/v1/types_test.go --
package v1
-- main/api/v1/types_plan9.go --
package v1
-- main/api/plan9/types_plan9.go --
package plan9
-- main/common/name.go --
package common

type Name string
-- main/unused/unused.go --
package unused
-- main/generated/listers/example/v1/widget_expansion.go --
package v1
-- lib/go.mod --
module example.com/lib

go 1.26.0
-- lib/lib.go --
package lib

type Lib struct{}
`

// newProject lays out project and returns the folder of its main module, and the generator.Config
// to generate in it.
func newProject(t *testing.T) (string, generator.Config) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	caches, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	build, modules, _ := strings.Cut(strings.TrimSpace(string(caches)), "\n")
	for name, value := range map[string]string{
		"GOCACHE": build, "GOMODCACHE": modules, "GOENV": "off", "GOFLAGS": "", "GOWORK": "", "GOPROXY": "off",
		"HOME": filepath.Join(dir, "home"), "XDG_CACHE_HOME": filepath.Join(dir, "cache"), "LocalAppData": filepath.Join(dir, "cache"),
	} {
		t.Setenv(name, value)
	}
	for _, file := range txtar.Parse([]byte(project)).Files {
		writeFile(t, filepath.Join(dir, file.Name), string(file.Data))
	}
	main := filepath.Join(dir, "main")
	writeFile(t, filepath.Join(main, "go.mod"), "module example.com/main\n\ngo 1.26.0\n\nrequire example.com/lib v0.0.0\nreplace example.com/lib => ../lib\n"+
		projecttest.Apimachinery(t, filepath.Join(dir, "apimachinery")))
	writeFile(t, filepath.Join(main, "go.sum"), "")
	return main, generator.Config{Dir: main}
}

// generateAndKeep makes a run that is recorded.
func generateAndKeep(t *testing.T, cfg generator.Config) generator.Files {
	t.Helper()
	cache := Open(cfg)
	if cache.UpToDate() {
		t.Fatal("up to date before anything was done")
	}
	files, err := generator.Generate(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := files.Write(); err != nil {
		t.Fatal(err)
	}
	cache.Keep(files)
	return files
}

// age makes all files older than any run.
func age(t *testing.T, dir string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(dir, func(name string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(name, old, old)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// tree is everything below root: content by path; folders have a slash at the end.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if entry.IsDir() {
			found[name+"/"] = ""
			return nil
		}
		content, err := os.ReadFile(filepath.Join(root, name))
		found[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func writeFile(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
