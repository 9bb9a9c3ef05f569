// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"cmp"
	"go/token"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
	"github.com/informer-gen/informer-gen/internal/generator/load"
)

// helpers are packages with functions over pointers, lists and maps of any type.
var helpers = []string{
	"cmp", "iter", "maps", "slices", "sort", "github.com/samber/lo", "golang.org/x/exp/maps", "golang.org/x/exp/slices", "k8s.io/utils/ptr",
}

// known are prefixes of import paths. Packages below them aren't analyzed: their behavior is
// modelled, or they belong to a server or a codec.
var known = []string{
	"github.com/informer-gen/informer-gen/devserver/",
	"github.com/informer-gen/informer-gen/runtime/",
	"k8s.io/api/",
	"k8s.io/apiextensions-apiserver/",
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/",
	"k8s.io/apimachinery/pkg/runtime/",
	"k8s.io/apiserver/",
	"k8s.io/client-go/",
	"k8s.io/klog/",
	"k8s.io/kube-openapi/",
	"sigs.k8s.io/controller-runtime/",
	"sigs.k8s.io/structured-merge-diff/",
}

func followed(p *load.CodePackage) bool {
	if slices.ContainsFunc(known, func(prefix string) bool { return strings.HasPrefix(p.Path+"/", prefix) }) {
		return false
	}
	switch {
	case p.Main, p.Path == gotypes.MetaPath, slices.Contains(helpers, p.Path):
		return true
	case p.Module == "":
		return false
	}
	return p.Needs(gotypes.MetaPath) // else it knows no objects
}

// usesC returns an error for each of the program's own packages with C and knowledge of objects:
// its reads can't be determined. Other packages can only be passed objects; the report has those
// calls.
func usesC(code *load.Code) diag.List {
	var wrong diag.List
	for _, p := range code.Packages {
		if p.C.IsValid() && (p.Root || p.Main) && p.Needs(gotypes.MetaPath) {
			wrong.Add(diag.Diagnostic{Pos: p.C,
				Message: "package " + p.Path + " uses C, so the fields of objects that it reads can't be determined: move the code that uses C into a package without API objects"})
		}
	}
	return wrong.Sorted()
}

func comparePositions(a, b token.Position) int {
	return cmp.Or(strings.Compare(a.Filename, b.Filename), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}
