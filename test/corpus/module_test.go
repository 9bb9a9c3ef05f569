// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "tidy the requirements in testdata")

// modulePath is the import path of each module below _work.
const modulePath = "corpus.example/user"

// userModule is a user's module with informers for a project's types.
type userModule struct {
	project project
	// below _work; the same in each run, because the build cache's keys have the folder
	dir string
}

// newModule makes the module of a project from scratch. It has the files of the project's folder in
// testdata, and those of the folder common.
func newModule(t *testing.T, p project, common string) userModule {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("_work", p.name))
	if err != nil {
		t.Fatal(err)
	}
	from := []string{p.folder(), filepath.Join("testdata", common)}
	if p.server {
		from = append(from, filepath.Join("testdata", "devserver"))
	}
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o777), copyFiles(dir, from...)); err != nil {
		t.Fatal(err)
	}
	return userModule{project: p, dir: dir}
}

// copyFiles copies Go files, go.mod and go.sum.
func copyFiles(to string, from ...string) error {
	for _, folder := range from {
		files, err := os.ReadDir(folder)
		if err != nil {
			return err
		}
		for _, file := range files {
			if file.Name() == configFile {
				continue // read by configure
			}
			text, err := os.ReadFile(filepath.Join(folder, file.Name()))
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(to, file.Name()), text, 0o666); err != nil {
				return err
			}
		}
	}
	return nil
}

const configFile = "informer-gen.yaml"

// checkRequirements fails the test if the go.mod and go.sum in testdata aren't tidy. With -update
// it tidies them.
func (m userModule) checkRequirements(t *testing.T) {
	t.Helper()
	if !*update {
		m.run(t, "go", "mod", "tidy", "-diff")
		return
	}
	m.run(t, "go", "mod", "tidy")
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(m.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(m.project.folder(), name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// run runs a command in the module and returns its output. It fails the test if the command fails.
func (m userModule) run(t *testing.T, command string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command, args...)
	cmd.Dir = m.dir
	cmd.Env = append(environment(), "CORPUS_SERVER="+serverURL)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s, in %s: %v\n%s", command, strings.Join(args, " "), m.dir, err, out)
	}
	return string(out)
}

// configure merges the project's informer-gen.yaml in testdata, and the folder of its CRDs, into
// the file written by init.
func (m userModule) configure(t *testing.T) {
	t.Helper()
	file := filepath.Join(m.dir, configFile)
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	indexes, err := os.ReadFile(filepath.Join(m.project.folder(), configFile))
	if err != nil {
		t.Fatal(err)
	}
	var config, more map[string]any
	if err := errors.Join(yaml.Unmarshal(written, &config), yaml.Unmarshal(indexes, &more)); err != nil {
		t.Fatal(err)
	}
	if err := mergePackages(config, more); err != nil {
		t.Fatal(err)
	}
	if m.project.crds != "" {
		folder, err := m.project.path(m.project.crds)
		if err != nil {
			t.Fatal(err)
		}
		config["crds"] = []string{folder}
	}
	text, err := yaml.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o666); err != nil {
		t.Fatal(err)
	}
}

// mergePackages adds the packages and kinds of one informer-gen.yaml to another one.
func mergePackages(to, from map[string]any) error {
	return mergeList(to, from, "packages", "path", func(to, from map[string]any) error {
		return mergeList(to, from, "kinds", "name", func(to, from map[string]any) error {
			if to["indexes"] != nil {
				return fmt.Errorf("%v has indexes", to["name"])
			}
			to["indexes"] = from["indexes"]
			return nil
		})
	})
}

// mergeList adds the elements of a list. For two elements with the same id it calls merge.
func mergeList(to, from map[string]any, list, id string, merge func(to, from map[string]any) error) error {
	elements, _ := to[list].([]any)
next:
	for _, added := range from[list].([]any) {
		added := added.(map[string]any)
		for _, element := range elements {
			if element := element.(map[string]any); element[id] == added[id] {
				if err := merge(element, added); err != nil {
					return err
				}
				continue next
			}
		}
		elements = append(elements, added)
	}
	to[list] = elements
	return nil
}

// writeKinds writes kinds.json, the expectations of the tests in the module.
func (m userModule) writeKinds(t *testing.T, kinds tree) {
	t.Helper()
	text, err := json.MarshalIndent(kinds, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(m.dir, "kinds.json"), text, 0o666); err != nil {
		t.Fatal(err)
	}
}
