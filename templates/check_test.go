// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"strings"
	"testing"

	"github.com/informer-gen/informer-gen/generator/model"
)

func TestCheck(t *testing.T) {
	version := func(out *model.Output) *model.Version { return out.Groups[0].Versions[0] }
	tests := []struct {
		name  string
		spoil func(out *model.Output)
		want  []string // parts of the error; none for no error
	}{
		{
			name:  "nothing",
			spoil: func(*model.Output) {},
		},
		{
			name:  "group called like a method of the factory",
			spoil: func(out *model.Output) { out.Groups[0].GoName = "Start" },
			want:  []string{`group "samples.example.com"`, `"Start"`, "SharedInformerFactory"},
		},
		{
			name: "groups in one folder with one accessor",
			spoil: func(out *model.Output) {
				other := *out.Groups[0]
				other.Name = "samples.example.org"
				out.Groups = append(out.Groups, &other)
			},
			want: []string{`"samples" in the folder informers`, `"Samples" in the interface`, "samples.example.org", "samples.example.com"},
		},
		{
			name: "versions in one folder that differ in case only",
			spoil: func(out *model.Output) {
				other := *version(out)
				other.Name, other.GoName, other.Package = "V1alpha1", "VOther", "V1alpha1"
				out.Groups[0].Versions = append(out.Groups[0].Versions, &other)
			},
			want: []string{`version "V1alpha1"`, `version "v1alpha1"`, "folder"},
		},
		{
			name:  "types of one file",
			spoil: func(out *model.Output) { version(out).Types[0].Name = "WIDGET" },
			want:  []string{"type WIDGET and type Widget", `"widget" in the folders of samples.example.com/v1alpha1`},
		},
		{
			name:  "types of one plural",
			spoil: func(out *model.Output) { version(out).Types[0].Plural = "Widgets" },
			want:  []string{"type Site and type Widget", `"Widgets"`},
		},
		{
			name:  "type called like the lister of a namespace",
			spoil: func(out *model.Output) { version(out).Types[0].Name = "WidgetNamespace" },
			want:  []string{"type WidgetNamespace and type Widget", `"WidgetNamespaceLister" in the package of the listers`},
		},
		{
			name:  "type called like a constructor",
			spoil: func(out *model.Output) { version(out).Types[0].Name = "NewWidget" },
			want:  []string{`"NewWidgetLister"`},
		},
		{
			name:  "plural called like a method of listers",
			spoil: func(out *model.Output) { version(out).Types[1].Plural = "List" },
			want:  []string{`"List" in the lister of type Widget`},
		},
		{
			name: "indexes of one name, and one called like a method of listers",
			spoil: func(out *model.Output) {
				all := *byNode
				all.Name = "All"
				version(out).Types[1].Indexes = []*model.Index{byNode, byNode, &all}
			},
			want: []string{"index ByNode of type Widget", `"All"`, `"ListByNode"`},
		},
		{
			name: "index called like something else of its type",
			spoil: func(out *model.Output) {
				x := *byNode
				x.Name = "Resource"
				version(out).Types[1].Indexes[0] = &x
			},
			want: []string{`"WidgetResource"`, "index Resource of type Widget"},
		},
		{
			name: "names that Go doesn't export",
			spoil: func(out *model.Output) {
				x := *byNode
				x.Name = "by-node"
				version(out).Types[1].Indexes[0] = &x
				out.Groups[0].GoName = "samples"
				version(out).GoName = "1"
			},
			want: []string{`"by-node" is no exported Go name`, `"samples" is no`, `"1" is no`},
		},
		{
			name: "index without keys",
			spoil: func(out *model.Output) {
				version(out).Types[1].Indexes[0] = &model.Index{Name: "ByNothing", Key: model.GoType{Name: "string"}}
			},
			want: []string{"index ByNothing of type Widget of samples.example.com/v1alpha1 needs either a path or a function"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out := sample()
			tt.spoil(out)
			files, err := Render(out)
			if len(tt.want) == 0 {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || files != nil {
				t.Fatalf("Render = %d files, %v, want an error", len(files), err)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error lacks %q:\n%v", part, err)
				}
			}
		})
	}
}

func TestPrivate(t *testing.T) {
	for name, want := range map[string]string{
		"Widget": "widget", "APIService": "apiService", "CSIDriver": "csiDriver", "VPA": "vpa", "A": "a", "IPAddress": "ipAddress",
		"V2Thing": "v2Thing", "Ärger": "ärger",
	} {
		if got := private(name); got != want {
			t.Errorf("private(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestFolder(t *testing.T) {
	for name, want := range map[string]string{
		"apps": "apps", "v1alpha1": "v1alpha1", "type": "typeapi", "internal": "internalapi", "string": "stringapi",
		"my-group": "mygroup", "Mixed": "mixed", "": "api", "1st": "st", "main": "mainapi", "a_test": "atestapi", "init": "initapi",
	} {
		if got := folder(name); got != want {
			t.Errorf("folder(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestAssumedName(t *testing.T) {
	for importPath, want := range map[string]string{
		"iter": "iter", "k8s.io/api/core/v1": "core", "example.com/api/v1alpha1": "v1alpha1", "example.com/go-yaml": "yaml",
		"gopkg.in/yaml.v3": "yaml", "v1": "v1",
	} {
		if got := assumedName(importPath); got != want {
			t.Errorf("assumedName(%q) = %q, want %q", importPath, got, want)
		}
	}
}
