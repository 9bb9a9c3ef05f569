// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"go/format"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestProjects makes a module for each project, generates its informers, compares them with the
// project's own code and CRDs, and runs the tests in testdata.
func TestProjects(t *testing.T) {
	for _, p := range projects {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			m := newModule(t, p, "shared")
			if *update {
				m.run(t, "go", "mod", "tidy", "-e") // nothing is generated yet
			}
			m.run(t, "go", append([]string{"tool", "informer-gen", "init"}, p.inputs...)...)
			m.configure(t)
			for line := range strings.Lines(m.run(t, "go", "tool", "informer-gen")) {
				// Libraries of API servers have internal types beside the API's.
				if strings.Contains(line, "warning") && !strings.Contains(line, "is left out, because it has no version") {
					t.Errorf("informer-gen warns: %s", line)
				}
			}
			m.run(t, "go", "tool", "informer-gen", "diff") // fails if there is a difference
			m.run(t, "go", "vet", "./...")
			m.checkFormat(t)
			m.checkRequirements(t)

			shipped, err := m.shipped()
			if err != nil {
				t.Fatal(err)
			}
			ours, err := m.informers(nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d kinds", len(ours))
			for _, text := range shipped.compare(ours) {
				t.Error(text)
			}
			m.mutate(t, shipped)

			m.writeKinds(t, shipped.informers)
			m.run(t, "go", "test", "-count=1", "-vet=off", ".")
		})
	}
}

// mutation is an error in the generated code: each occurrence of old is replaced by new.
type mutation struct {
	old, new string
	want     string // text that a comparison must report
}

// mutate fails the test unless the comparisons find each mutation.
func (m userModule) mutate(t *testing.T, shipped facts) {
	t.Helper()
	files, err := m.generated()
	if err != nil {
		t.Fatal(err)
	}
	for _, mutation := range m.project.mutations {
		overlay := map[string][]byte{}
		for name, text := range files {
			if strings.Contains(text, mutation.old) {
				overlay[name] = []byte(strings.ReplaceAll(text, mutation.old, mutation.new))
			}
		}
		if len(overlay) == 0 {
			t.Errorf("no generated file contains %q", mutation.old)
			continue
		}
		var found []string
		if ours, err := m.informers(overlay); err != nil {
			found = []string{err.Error()}
		} else {
			found = shipped.compare(ours)
		}
		if !slices.ContainsFunc(found, func(text string) bool { return strings.Contains(text, mutation.want) }) {
			t.Errorf("with %q in place of %q, the comparisons found\n%s\nwant %q", mutation.new, mutation.old, strings.Join(found, "\n"), mutation.want)
		}
	}
}

// checkFormat fails the test for each generated file that gofmt would change.
func (m userModule) checkFormat(t *testing.T) {
	t.Helper()
	files, err := m.generated()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		formatted, err := format.Source([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if string(formatted) != text {
			t.Errorf("gofmt would change %s", name)
		}
	}
}

// generated reads all generated files.
func (m userModule) generated() (map[string]string, error) {
	files := map[string]string{}
	err := filepath.WalkDir(filepath.Join(m.dir, "generated"), func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		files[name] = string(text)
		return err
	})
	return files, err
}

// facts describe a project's kinds without our generator.
type facts struct {
	project     project
	informers   tree
	clients     map[string]client
	definitions map[schema.GroupVersionResource]definition // nil if the project has no CRDs
	samples     map[string]bool                            // nil if the project has none
}

// shipped reads the project's own informers, clients, CRDs and serialized objects.
func (m userModule) shipped() (facts, error) {
	f := facts{project: m.project}
	program, err := load(m.dir, allSource, nil, m.project.informers, m.project.clients+"/...")
	if err != nil {
		return f, err
	}
	if f.informers, err = program.tree(m.project.informers); err != nil {
		return f, err
	}
	if f.clients, err = program.clients(m.project.clients); err != nil {
		return f, err
	}
	if m.project.crds != "" {
		if f.definitions, err = m.project.readDefinitions(); err != nil {
			return f, err
		}
	}
	if m.project.samples != "" {
		f.samples, err = m.project.readSamples()
	}
	return f, err
}

// compare returns the differences between our informers and the facts.
func (f facts) compare(ours tree) []string {
	var all []string
	add := func(what string, different []string) {
		for _, text := range different {
			all = append(all, what+": "+text)
		}
	}
	add("our informers and theirs", compareTrees(ours, f.informers.move(f.project.folders)))
	add("our informers and typed clients", compareClients(ours, f.clients))
	add("our resources and guesses", compareGuesses(ours, f.project.irregular))
	if f.definitions != nil {
		add("our informers and CRDs", compareDefinitions(ours, f.definitions, f.project.withoutCRD))
	}
	if f.samples != nil {
		add("our informers and serialized objects", compareSamples(ours, f.samples))
	}
	return all
}

// informers reads the generated informers; overlay replaces the content of files.
func (m userModule) informers(overlay map[string][]byte) (tree, error) {
	program, err := load(m.dir, rootSource, overlay, "./generated/...")
	if err != nil {
		return nil, err
	}
	return program.tree(modulePath + "/generated/informers")
}

// move returns the tree with the folders of some groups renamed.
func (t tree) move(groups map[string]string) tree {
	moved := maps.Clone(t)
	for name, k := range moved {
		group, version, _ := strings.Cut(k.Folder, "/")
		if to, ok := groups[group]; ok {
			k.Folder = to + "/" + version
			moved[name] = k
		}
	}
	return moved
}
