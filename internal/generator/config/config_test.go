// SPDX-License-Identifier: Apache-2.0

package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/marker/syntax"
)

// full has every key of the format.
const full = `# yaml-language-server: $schema=informer-gen.schema.json
version: 1
inputs: [./api/..., k8s.io/api/core/v1]
output: generated
layout: grouped
header: hack/boilerplate.go.txt
headerYear: 2026
tags: e2e
crds: [config/crd/bases]
discover: false
plurals: {Endpoints: Endpoints, "Fish": "Fishes"}
keepGoing: true
prune: false
allowEmpty: false
packages:
- path: k8s.io/api/core/v1
  groupName: ""
  groupGoName: Core
  versionName: v1
  discover: true
  only: [Pod, Node]
  kinds:
  - name: Pod
    generate: true
    scope: Namespaced
    resource: pods
    plural: Pods
    deprecated: "use v2"
    indexes:
    - {name: ByNode, field: .spec.nodeName}
    - name: ByNodeAndPhase
      field: [.spec.nodeName, '.status.phase']
      when: .spec.hostNetwork==true
      namespaced: true
    - {name: ByController, owner: controller}
    - {name: ByImage, func: example.com/keys.Images}
`

func TestParseKeepsPositions(t *testing.T) {
	file, wrong := Parse("f.yaml", []byte(full))
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	pos := func(v marker.Value) string { return strings.TrimPrefix(v.Pos.String(), "f.yaml:") + " " + v.Text }
	pkg := file.Packages[0]
	pod := pkg.Kinds[0]
	for _, test := range []struct{ got, want string }{
		{pos(file.Version), "2:10 1"},
		{pos(file.Inputs[1]), "3:21 k8s.io/api/core/v1"},
		{pos(file.HeaderYear), "7:13 2026"},
		{pos(file.Tags[0]), "8:7 e2e"},
		{pos(file.Plurals[1].Key), "11:34 Fish"}, // behind the quotes
		{pos(file.Plurals[1].Value), "11:42 Fishes"},
		{pos(pkg.GroupName), "17:15 "},
		{pos(pod.Deprecated), "28:18 use v2"},
		{pos(pod.Indexes[1].Fields[1]), "32:32 .status.phase"},
		{pos(pod.Indexes[1].Namespaced), "34:19 true"},
		{pod.Indexes[0].Pos.String() + " " + pod.Indexes[0].At.Name, "f.yaml:30:7 indexes"},
		{pod.Pos.String() + " " + pod.At.Name, "f.yaml:23:5 kinds"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
	if !True(file.KeepGoing) || True(file.Prune) || True(marker.Value{}) {
		t.Error("True is wrong for true, false or a missing value")
	}
	var names []string
	for _, m := range append(pkg.Markers(), pod.Markers()...) {
		at := m.Where()
		names = append(names, at.Name)
		if !at.InFile() || !at.Pos.IsValid() || syntax.DefinitionOf(m) == nil {
			t.Errorf("%+v isn't a marker from a file", at)
		}
	}
	want := "groupName groupGoName versionName generate scope resource plural deprecated indexes indexes indexes indexes"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("markers\ngot  %s\nwant %s", got, want)
	}
}

// TestParseReadsYAMLAsKubernetesDoes has text that sigs.k8s.io/yaml reads differently from other
// libraries.
func TestParseReadsYAMLAsKubernetesDoes(t *testing.T) {
	file, wrong := Parse("f.yaml", []byte(`%YAML 1.1
# a comment
---
version: 1
prune: yes
discover: off
output: &folder generated
header: *folder
headerYear: 2026-01-02
layout: !mine single
plurals: {"1": As}
packages:
- &pods
  path: k8s.io/api/core/v1
  groupName: "core"
  versionName: v1
- <<: *pods
  path: k8s.io/api/apps/v1
  groupName: apps
---
# nothing
`))
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	pos := func(v marker.Value) string { return strings.TrimPrefix(v.Pos.String(), "f.yaml:") + " " + v.Text }
	second := file.Packages[1]
	for _, test := range []struct{ got, want string }{
		{pos(file.Prune), "5:8 true"},
		{pos(file.Discover), "6:11 false"},
		{pos(file.Header), "7:9 generated"}, // where the target stands
		{pos(file.HeaderYear), "9:13 2026-01-02"},
		{pos(file.Layout), "10:9 single"},
		{pos(file.Plurals[0].Key), "11:12 1"},
		{pos(second.Path), "18:9 k8s.io/api/apps/v1"},
		{pos(second.GroupName), "19:14 apps"},
		{pos(second.VersionName), "16:16 v1"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

// TestParseReportsEverythingAtOnce has one file for each possible mistake, and some with several.
func TestParseReportsEverythingAtOnce(t *testing.T) {
	for _, test := range wrongFiles {
		file, wrong := Parse("f.yaml", []byte(test.text))
		if file != nil {
			t.Errorf("%q: got a file, want\n%s", test.text, test.want)
		}
		if diff := cmp.Diff(test.want, wrong.Error()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.text, diff)
		}
		if slices.ContainsFunc(wrong, func(d diag.Diagnostic) bool { return d.Warning }) {
			t.Errorf("%q: there is a warning among %v", test.text, wrong)
		}
	}
}

func TestFindLooksUpwardsToTheTop(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "a", "b")
	// a folder with the file's name is ignored
	if err := os.MkdirAll(filepath.Join(dir, FileName), 0o755); err != nil {
		t.Fatal(err)
	}
	find := func(from, to string) string {
		t.Helper()
		name, err := Find(from, to)
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	if got := find(dir, top); got != "" {
		t.Errorf("found %s, want none", got)
	}
	want := filepath.Join(top, FileName)
	if err := os.WriteFile(want, []byte(full), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := find(dir, top); got != want {
		t.Errorf("found %q, want %s", got, want)
	}
	if got := find(dir, filepath.Join(top, "a")); got != "" {
		t.Errorf("found %s above the top", got)
	}
	if file, err := Read(want); err != nil || file.Name != want || file.Output.Pos.Filename != want {
		t.Errorf("got %+v, %v", file, err)
	}
	if _, err := Read(filepath.Join(top, "missing")); err == nil {
		t.Error("Read has no error for a missing file")
	}
}

// FuzzParse checks that each value and each finding has a position in the file.
func FuzzParse(f *testing.F) {
	f.Add([]byte(full))
	for _, test := range wrongFiles {
		f.Add([]byte(test.text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, wrong := Parse("f.yaml", data)
		if (file == nil) == (len(wrong) == 0) {
			t.Fatalf("got %v and %v", file, wrong)
		}
		inside := func(v marker.Value) {
			if v.IsSet() {
				checkPlace(t, data, v.Pos.Line, v.Pos.Column, v.Pos.Offset)
			}
		}
		for _, d := range wrong {
			checkPlace(t, data, d.Pos.Line, d.Pos.Column, d.Pos.Offset)
			if strings.Contains(d.Message, "\n") {
				t.Fatalf("more than one line: %q", d.Message)
			}
		}
		if file == nil {
			return
		}
		inside(file.Version)
		for _, v := range file.Inputs {
			inside(v)
		}
		for _, e := range file.Plurals {
			inside(e.Key)
			inside(e.Value)
		}
		for _, pkg := range file.Packages {
			inside(pkg.Path)
			for _, kind := range pkg.Kinds {
				inside(kind.Name)
				for _, m := range kind.Markers() {
					pos := m.Where().Pos
					checkPlace(t, data, pos.Line, pos.Column, pos.Offset)
				}
			}
		}
	})
}

// checkPlace fails unless a position is in data or at its end.
func checkPlace(t *testing.T, data []byte, line, column, offset int) {
	t.Helper()
	lines := strings.Split(string(data), "\n")
	if line < 1 || line > len(lines) || column < 1 || column > len(lines[line-1])+1 {
		t.Fatalf("line %d, column %d isn't in %q", line, column, data)
	}
	at := column - 1
	for _, l := range lines[:line-1] {
		at += len(l) + 1
	}
	if at != offset {
		t.Fatalf("line %d, column %d is at offset %d of %q, not %d", line, column, at, data, offset)
	}
}
