// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/config"
)

//go:embed program
var program embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{"lower": strings.ToLower}).
	ParseFS(program, "program/*.tmpl"))

// templateWords are the words of the templates of Go files. A package called like one of them could
// clash with a name in a file that imports it.
var templateWords = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	names, _ := fs.Glob(program, "program/*.go.tmpl")
	for _, name := range names {
		text, _ := program.ReadFile(name)
		for _, word := range lowerWord.FindAllString(string(text), -1) {
			words[word] = true
		}
	}
	return words
})

var lowerWord = regexp.MustCompile(`\b[a-z]\w*`)

// file is a file to write.
type file struct {
	name    string // with slashes, relative to the project
	content []byte
}

// controllerFiles returns the files of the program.
func (p *Project) controllerFiles() ([]file, error) {
	c := p.Controller
	inFolder := func(name string) string { return path.Join(c.Folder, name) }
	controller := inFolder("internal/controller/" + c.PackageName)
	type source struct{ name, template string }
	var sources []source
	if c.New {
		sources = append(sources,
			source{c.apiFolder + "/doc.go", "doc.go"},
			source{c.apiFolder + "/" + strings.ToLower(c.Kind) + "_types.go", "types.go"},
			source{inFolder("config/samples/" + strings.ToLower(c.Kind) + ".yaml"), "sample.yaml"})
	}
	sources = append(sources,
		source{inFolder("cmd/main.go"), "main.go"},
		source{inFolder("cmd/main_test.go"), "main_test.go"},
		source{controller + "/controller.go", "controller.go"},
		source{controller + "/controller_test.go", "controller_test.go"},
		source{inFolder("config/default/kustomization.yaml"), "default.yaml"},
		source{inFolder("config/manager/kustomization.yaml"), "manager_kustomization.yaml"},
		source{inFolder("config/manager/manager.yaml"), "manager.yaml"},
		source{inFolder("config/rbac/kustomization.yaml"), "rbac_kustomization.yaml"},
		source{inFolder("config/rbac/leader_election_role.yaml"), "leader_election_role.yaml"},
		source{inFolder("config/rbac/leader_election_role_binding.yaml"), "leader_election_role_binding.yaml"},
		source{inFolder("config/rbac/role.yaml"), "role.yaml"},
		source{inFolder("config/rbac/role_binding.yaml"), "role_binding.yaml"},
		source{inFolder("config/rbac/service_account.yaml"), "service_account.yaml"},
		source{inFolder("Dockerfile"), "Dockerfile"})
	if crds := c.CRDKustomization() + "/kustomization.yaml"; !p.exists(crds) {
		sources = append(sources, source{crds, "crd_kustomization.yaml"})
	}
	var files []file
	for _, s := range sources {
		var b bytes.Buffer
		if err := templates.ExecuteTemplate(&b, s.template+".tmpl", c); err != nil {
			return nil, err
		}
		content := b.Bytes()
		if path.Ext(s.name) == ".go" {
			var err error
			if content, err = format.Source(content); err != nil {
				return nil, fmt.Errorf("formatting %s: %w", s.name, err)
			}
		}
		files = append(files, file{s.name, content})
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return files, nil
}

// CRDKustomization returns the folder of the kustomization of the CustomResourceDefinitions.
func (c *Controller) CRDKustomization() string {
	if path.Base(c.CRDs) == "bases" {
		return path.Dir(c.CRDs)
	}
	return c.CRDs
}

// CRDPath returns the name of a file of CRDs in its kustomization.
func (c *Controller) CRDPath(name string) string {
	if path.Base(c.CRDs) == "bases" {
		return "bases/" + name
	}
	return name
}

// CRDResource returns the resource of config/default with the CustomResourceDefinitions.
func (c *Controller) CRDResource() string {
	if c.Folder == "." && path.Dir(c.CRDKustomization()) == "config" {
		return "../" + path.Base(c.CRDKustomization())
	}
	return c.FromRoot(2, c.CRDKustomization())
}

// FromRoot returns the name of a file or folder of the project, relative to a folder of the program
// that lies depth folders below c.Folder.
func (c *Controller) FromRoot(depth int, name string) string {
	return path.Join(strings.Repeat("../", depth), c.ToRoot, name)
}

// checkNew returns an error that names all files that exist already.
func (p *Project) checkNew(files []file) error {
	var there []string
	for _, f := range files {
		switch _, err := os.Lstat(filepath.Join(p.Dir, filepath.FromSlash(f.name))); {
		case err == nil:
			there = append(there, p.Relative(f.name))
		case !errors.Is(err, fs.ErrNotExist): // a file in the place of a folder
			return fmt.Errorf("looking for %s: %w", p.Relative(f.name), err)
		}
	}
	if len(there) == 0 {
		return nil
	}
	return fmt.Errorf("init overwrites no files of a program, and has written nothing, because these are there:\n\t%s\n"+
		"remove or rename them, or have the program written below another folder, for example by --program %s",
		strings.Join(there, "\n\t"), strings.ToLower(p.Controller.Plural))
}

// writeFiles writes new files.
func (p *Project) writeFiles(files []file) error {
	for _, f := range files {
		name := filepath.Join(p.Dir, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, f.content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generateLines are the lines for go generate that the project lacks, without informer-gen's. They
// come before that, which reads their results.
func (c *Controller) generateLines(p *Project) string {
	if c == nil {
		return ""
	}
	var b strings.Builder
	paths := "./" + c.apiFolder
	if c.New {
		paths = "./api/..."
		object := "object"
		if p.Header != "" {
			object += ":headerFile=" + p.Header
			if p.HeaderYear != "" {
				object += ",year=" + p.HeaderYear
			}
		}
		fmt.Fprintf(&b, "//go:generate go tool controller-gen %s paths=%s\n", object, paths)
	}
	if c.definesCRDs {
		fmt.Fprintf(&b, "//go:generate go tool controller-gen crd paths=%s output:crd:dir=%s\n", paths, c.CRDs)
	}
	return b.String()
}

// NeedsControllerGen reports whether go generate runs controller-gen.
func (c *Controller) NeedsControllerGen() bool { return c.New || c.definesCRDs }

var controllersLine = regexp.MustCompile(`(?m)^controllers:.*$`)

// withControllers returns a configuration file with controllers: true.
func withControllers(data []byte) ([]byte, error) {
	file, problems := config.Parse(config.FileName, data)
	if len(problems) > 0 {
		return nil, problems
	}
	if config.True(file.Controllers) {
		return data, nil
	}
	const line = "controllers: true"
	changed := controllersLine.ReplaceAllLiteral(data, []byte(line))
	if !controllersLine.Match(data) {
		changed = append(bytes.TrimRight(data, "\n"), "\n\n"+line+"\n"...)
	}
	if file, problems = config.Parse(config.FileName, changed); len(problems) > 0 || !config.True(file.Controllers) {
		return nil, diag.List{{Pos: file.Version.Pos, Message: "the controller needs " + line + " in informer-gen.yaml: write it there, and run init again"}}
	}
	return changed, nil
}
