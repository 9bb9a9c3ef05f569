// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/informer-gen/informer-gen/internal/generator/model"
	"github.com/informer-gen/informer-gen/internal/generator/resolve"
)

func TestInspectedIndexesReadLikeTheirMarkers(t *testing.T) {
	path := func(text string) *model.FieldPath { return &model.FieldPath{Text: text} }
	type words struct{ key, of string }
	for want, index := range map[words]*model.Index{
		{"v1.NodeName", "field .spec.node"}: {
			Key: model.GoType{Path: "example.com/v1", Package: "v1", Name: "NodeName"}, Paths: []*model.FieldPath{path(".spec.node")},
		},
		{"WidgetByBothKey", "field .spec.a;.spec.b"}: {Paths: []*model.FieldPath{path(".spec.a"), path(".spec.b")}},
		{"types.UID", "owner controller"}: {
			Key: model.GoType{Package: "types", Name: "UID"}, Owner: &model.Owner{Controller: true},
		},
		{"string", "owner Deployment.apps"}: {Key: model.GoType{Name: "string"}, Owner: &model.Owner{Group: "apps", Kind: "Deployment"}},
		{"string", "owner Node"}:            {Key: model.GoType{Name: "string"}, Owner: &model.Owner{Kind: "Node"}},
		{"string", "func example.com/v1.Keys"}: {
			Key: model.GoType{Name: "string"}, Func: &model.Func{Package: model.GoPackage{Path: "example.com/v1", Name: "v1"}, Name: "Keys"},
		},
		{"string", `field .a when .b==true && .c!=null`}: {
			Key: model.GoType{Name: "string"}, Paths: []*model.FieldPath{path(".a")},
			When: []model.Condition{{Path: path(".b"), Literal: "true"}, {Path: path(".c"), Not: true, Literal: "nil"}},
		},
	} {
		index.Name = "ByBoth"
		if got := (words{keyName("Widget", index), keySource(index)}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestInspectedTypeHasItsOwnFilesOnly(t *testing.T) {
	widget := resolve.Type{Package: "example.com/v1", Name: "Widget", Model: &model.Type{Name: "Widget"}}
	var files []string
	for _, f := range [][2]string{
		{"informers/factory.go", ""},
		{"informers/shop/v1/version.go", "example.com/v1"},
		{"informers/shop/v1/widget.go", "example.com/v1"},
		{"informers/shop/v1/widgetset.go", "example.com/v1"},
		{"listers/shop/v1/widget.go", "example.com/v1"},
		{"listers/shop/v2/widget.go", "example.com/v2"},
	} {
		if isFileOf(f[0], f[1], widget) {
			files = append(files, f[0])
		}
		if isFileOf(f[0], f[1], resolve.Type{Package: widget.Package, Name: widget.Name}) {
			t.Errorf("isFileOf(%q) is true for a type without generated code", f[0])
		}
	}
	want := []string{"informers/shop/v1/widget.go", "listers/shop/v1/widget.go"}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Error(diff)
	}
}

// Errors in packages are findings. Errors in the configuration are errors of Inspect.
func TestInspectReturnsErrorsAsFindings(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":         "module example.com/shop\n\ngo 1.26.0\n",
		"api/v1/type.go": "// +groupName=shop.example.com\npackage v1\n\n// +genclient:onlyVerbs=lsit\ntype Widget struct{}\n",
		"wrong.yaml":     "version: 2\n",
	} {
		writeFile(t, filepath.Join(dir, name), content)
	}
	cfg := Config{Dir: filepath.Join(dir, "api"), Env: append(os.Environ(), "GOWORK=off", "GOFLAGS=")}
	found, err := Inspect(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if errs, _ := found.Findings.Split(); len(errs) != 1 || filepath.ToSlash(errs[0].Pos.Filename) != "v1/type.go" {
		t.Errorf("findings: %v", found.Findings)
	}
	if diff := cmp.Diff([]string{"example.com/shop/api/v1"}, found.Packages); diff != "" {
		t.Error(diff)
	}
	if found.Output != "../generated" || found.Config != "" {
		t.Errorf("output %q, config %q", found.Output, found.Config)
	}
	cfg.File = filepath.Join(dir, "wrong.yaml")
	if _, err := Inspect(t.Context(), cfg); err == nil {
		t.Error("Inspect has no error for a wrong configuration")
	}
}
