// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"strings"
	"testing"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

func TestWrongModelsAreRefused(t *testing.T) {
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
			name: "groups whose interfaces have one implementation",
			spoil: func(out *model.Output) {
				one, other := *out.Groups[0], *out.Groups[0]
				one.Name, one.GoName, one.Package = "vpa.example.com", "VPA", "vpa"
				other.Name, other.GoName, other.Package = "vpa.example.org", "Vpa", "vpa2"
				out.Groups = append(out.Groups, &one, &other)
			},
			want: []string{`group "vpa.example.com" and group "vpa.example.org"`, `"vpaGroup" in the package informers`},
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
			name: "type called like another one's option",
			spoil: func(out *model.Output) {
				version(out).Types[0].Plural, version(out).Types[0].Name = "SitesInformer", "WithSites"
			},
			want: []string{`"WithSitesInformer"`},
		},
		{
			name: "index called like the list of all, and key of several fields called like an index",
			spoil: func(out *model.Output) {
				x, y, z := *byNode, *byNode, *byNode
				x.Name = "Indexes"
				y.Name, y.Paths = "By", []*model.FieldPath{named("A", byNode.Paths[0]), named("A", byNode.Paths[0])}
				z.Name = "ByKey"
				version(out).Types[1].Indexes = []*model.Index{&x, &y, &z}
			},
			want: []string{`"WidgetIndexes"`, `"WidgetByKey"`, `"A" in the key of index By of type Widget`},
		},
		{
			name: "index with keys by namespace of a cluster-scoped type",
			spoil: func(out *model.Output) {
				x := *byNode
				x.Namespaced = true
				version(out).Types[0].Indexes = []*model.Index{&x}
			},
			want: []string{"index ByNode of type Site", "cluster-scoped"},
		},
		{
			name: "index with a condition on elements",
			spoil: func(out *model.Output) {
				x := *byNode
				x.When = []model.Condition{{Path: byImage.Paths[0], Literal: `"x"`}}
				version(out).Types[1].Indexes = []*model.Index{&x}
			},
			want: []string{"elements of .spec.containers[*].image"},
		},
		{
			name: "one kind in two versions and a single package",
			spoil: func(out *model.Output) {
				other := *version(out)
				other.Name = "v1"
				out.Groups[0].Versions = append(out.Groups[0].Versions, &other)
				out.Layout, out.Package = model.Single, "generated"
			},
			want: []string{
				"type Widget of samples.example.com/v1alpha1 and type Widget of samples.example.com/v1", `"widget" in the output folder`,
				`"WidgetLister" in the generated package`, `"Widgets" in the interface SharedInformerFactory`, "or use the grouped layout",
			},
		},
		{
			name: "plural called like a method of the factory in a single package",
			spoil: func(out *model.Output) {
				out.Layout, out.Package = model.Single, "generated"
				version(out).Types[1].Plural = "Start"
			},
			want: []string{`"Start" in the interface SharedInformerFactory`},
		},
		{
			name:  "single package without a name",
			spoil: func(out *model.Output) { out.Layout = model.Single },
			want:  []string{`"" can't be the name of the generated package`},
		},
		{
			name: "index without keys",
			spoil: func(out *model.Output) {
				version(out).Types[1].Indexes[0] = &model.Index{Name: "ByNothing", Key: model.GoType{Name: "string"}}
			},
			want: []string{"index ByNothing of type Widget of samples.example.com/v1alpha1 needs either a path, an owner or a function"},
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

func TestPrivateNames(t *testing.T) {
	for name, want := range map[string]string{
		"Widget": "widget", "APIService": "apiService", "CSIDriver": "csiDriver", "VPA": "vpa", "A": "a", "IPAddress": "ipAddress",
		"V2Thing": "v2Thing", "Ärger": "ärger",
	} {
		if got := private(name); got != want {
			t.Errorf("private(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestFoldersAvoidNamesWithAMeaningInGo(t *testing.T) {
	for name, want := range map[string]string{
		"apps": "apps", "v1alpha1": "v1alpha1", "type": "typeapi", "internal": "internalapi", "string": "stringapi",
		"my-group": "mygroup", "Mixed": "mixed", "": "api", "1st": "st", "main": "mainapi", "a_test": "atestapi", "init": "initapi",
	} {
		if got := folder(name); got != want {
			t.Errorf("folder(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestAssumedNamesAreThoseOfGoimports(t *testing.T) {
	for importPath, want := range map[string]string{
		"iter": "iter", "k8s.io/api/core/v1": "core", "example.com/api/v1alpha1": "v1alpha1", "example.com/go-yaml": "yaml",
		"gopkg.in/yaml.v3": "yaml", "v1": "v1",
	} {
		if got := assumedName(importPath); got != want {
			t.Errorf("assumedName(%q) = %q, want %q", importPath, got, want)
		}
	}
}
