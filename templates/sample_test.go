// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"strings"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

const samplePath = "example.com/project/api/v1alpha1"

var sampleSource = model.GoPackage{Path: samplePath, Name: "v1alpha1"}

func field(text string, steps ...model.Step) []*model.FieldPath {
	return []*model.FieldPath{{Text: text, Steps: steps}}
}

var byNode = &model.Index{
	Name:  "ByNode",
	Key:   model.GoType{Name: "string"},
	Paths: field(".spec.nodeName", model.Step{Field: "Spec"}, model.Step{Field: "NodeName"}),
}

var byImage = &model.Index{
	Name: "ByImage",
	Key:  model.GoType{Name: "string"},
	Paths: field(".spec.containers[*].image",
		model.Step{Field: "Spec"}, model.Step{Field: "Containers", Each: true}, model.Step{Field: "Image"}),
}

var byOwner = &model.Index{
	Name: "ByOwner",
	Key:  model.GoType{Path: "k8s.io/apimachinery/pkg/types", Package: "types", Name: "UID"},
	Func: &model.Func{Package: model.GoPackage{Path: samplePath, Name: "v1alpha1"}, Name: "OwnerUIDs"},
}

func widget() *model.Type {
	return &model.Type{
		Source: sampleSource,
		Name:   "Widget", Plural: "Widgets", Resource: "widgets", Namespaced: true,
		Doc:     []string{"Widget is something that runs on a node.", "", "It is made of containers."},
		Indexes: []*model.Index{byNode, byImage, byOwner},
	}
}

func site() *model.Type {
	return &model.Type{
		Source: sampleSource,
		Name:   "Site", Plural: "Sites", Resource: "sites",
		Doc: []string{"Site is where widgets are."},
	}
}

// sample is a project with one namespaced and one cluster-scoped type.
func sample() *model.Output {
	return &model.Output{
		ImportPath: "example.com/project/generated",
		Groups: []*model.Group{{
			Name: "samples.example.com", GoName: "Samples", Package: "samples",
			Versions: []*model.Version{{
				Name: "v1alpha1", GoName: "V1alpha1", Package: "v1alpha1",
				Types: []*model.Type{site(), widget()},
			}},
		}},
	}
}

// controllers is sample with the methods for controllers, and a type in a package named like the
// runtime's.
func controllers() *model.Output {
	out := sample()
	out.Controllers = true
	out.Groups = append(out.Groups, &model.Group{
		Name: "reconcile.example.com", GoName: "Reconcile", Package: "reconcile",
		Versions: []*model.Version{{
			Name: "v1", GoName: "V1", Package: "v1",
			Types: []*model.Type{{
				Source: model.GoPackage{Path: "example.com/project/api/reconcile", Name: "reconcile"},
				Name:   "Plan", Plural: "Plans", Resource: "plans", Namespaced: true,
			}},
		}},
	})
	return out
}

// core has a type of the core group, whose API package is named v1.
func core() *model.Output {
	source := model.GoPackage{Path: "k8s.io/api/core/v1", Name: "v1"}
	return &model.Output{
		ImportPath: "example.com/project/generated",
		Groups: []*model.Group{{
			Name: "", GoName: "Core", Package: "core",
			Versions: []*model.Version{{
				Name: "v1", GoName: "V1", Package: "v1",
				Types: []*model.Type{
					{Source: source, Name: "Node", Plural: "Nodes", Resource: "nodes"},
					{
						Source: source,
						Name:   "Pod", Plural: "Pods", Resource: "pods", Namespaced: true,
						Indexes: []*model.Index{{
							Name:  "ByNode",
							Key:   model.GoType{Name: "string"},
							Paths: field(".spec.nodeName", model.Step{Field: "Spec"}, model.Step{Field: "NodeName"}),
						}, {
							Name:  "ByPhase",
							Key:   model.GoType{Path: "k8s.io/api/core/v1", Package: "v1", Name: "PodPhase"},
							Paths: field(".status.phase", model.Step{Field: "Status"}, model.Step{Field: "Phase"}),
						}},
					},
				},
			}},
		}},
	}
}

// walks has an index for every kind of step.
func walks() *model.Output {
	index := func(name string, path []*model.FieldPath) *model.Index {
		return &model.Index{Name: name, Key: str, Paths: path}
	}
	out := sample()
	out.Groups[0].Versions[0].Types = []*model.Type{{
		Source: sampleSource,
		Name:   "Walk", Plural: "Walks", Resource: "walks", Namespaced: true,
		Indexes: []*model.Index{
			index("ByPlain", field(".spec.name", spec, name)),
			index("ByPointer", field(".spec.ref", spec, model.Step{Field: "Ref", Pointer: true})),
			index("ByPointerStruct", field(".spec.target.name", spec, model.Step{Field: "Target", Pointer: true}, name)),
			index("ByPointers", field(".spec.target.next.ref", spec, model.Step{Field: "Target", Pointer: true},
				model.Step{Field: "Next", Pointer: true}, model.Step{Field: "Ref", Pointer: true})),
			index("BySlice", field(".spec.names[*]", spec, model.Step{Field: "Names", Each: true})),
			index("BySlicePointers", field(".spec.refs[*]", spec, model.Step{Field: "Refs", Each: true, ElemPointer: true})),
			index("ByArray", field(".spec.pair[*]", spec, model.Step{Field: "Pair", Each: true, Array: true})),
			index("BySliceUnderPointer", field(".spec.target.names[*]",
				spec, model.Step{Field: "Target", Pointer: true}, model.Step{Field: "Names", Each: true})),
			index("ByPointerSlice", field(".spec.optional[*]", spec, model.Step{Field: "Optional", Pointer: true, Each: true})),
			index("ByPointerSliceElem", field(".spec.optionalTargets[*].name",
				spec, model.Step{Field: "OptionalTargets", Pointer: true, Each: true}, name)),
			index("ByNested", field(".spec.targets[*].rules[*].paths[*]", spec, model.Step{Field: "Targets", Each: true},
				model.Step{Field: "Rules", Each: true}, model.Step{Field: "Paths", Each: true})),
			index("ByNestedPointers", field(".spec.pointers[*].next.rules[*].ref", spec,
				model.Step{Field: "Pointers", Each: true, ElemPointer: true}, model.Step{Field: "Next", Pointer: true},
				model.Step{Field: "Rules", Each: true}, model.Step{Field: "Ref", Pointer: true})),
		},
	}}
	return out
}

// expansions has types whose users declare expansion interfaces: all of them, that of the lister,
// that of a namespace.
func expansions() *model.Output {
	out := sample()
	both, lister, namespace, cluster := widget(), widget(), widget(), site()
	both.Name, both.Plural, both.Resource = "Both", "Boths", "boths"
	both.ListerExpansion, both.NamespaceListerExpansion = true, true
	lister.Name, lister.Plural, lister.Resource = "One", "Ones", "ones"
	lister.ListerExpansion = true
	namespace.Name, namespace.Plural, namespace.Resource = "Other", "Others", "others"
	namespace.NamespaceListerExpansion = true
	cluster.ListerExpansion = true
	for _, t := range []*model.Type{both, lister, namespace} {
		t.Doc, t.Indexes = nil, nil
	}
	out.Groups[0].Versions[0].Types = []*model.Type{both, lister, namespace, cluster}
	return out
}

// names has names with a meaning in Go, in the runtime or in generated code, and duplicate names.
func names() *model.Output {
	version := func(name string, types ...*model.Type) *model.Version {
		return &model.Version{Name: name, GoName: "V" + name[1:], Package: name, Types: types}
	}
	kind := func(path, pkg, name, plural, resource string, namespaced bool) *model.Type {
		return &model.Type{
			Source: model.GoPackage{Path: path, Name: pkg},
			Name:   name, Plural: plural, Resource: resource, Namespaced: namespaced,
			Indexes: []*model.Index{
				{
					Name:  "ByIndex",
					Key:   model.GoType{Path: path, Package: pkg, Name: "Pair"},
					Paths: field(".index", model.Step{Field: "Index"}),
				},
				{
					Name: "ByKeys",
					Key:  model.GoType{Path: "example.com/project/other/" + pkg, Package: pkg, Name: "Key"},
					Func: &model.Func{Package: model.GoPackage{Path: "example.com/project/other/" + pkg, Name: pkg}, Name: "Keys"},
				},
			},
		}
	}
	group := func(name, goName, folder string, versions ...*model.Version) *model.Group {
		return &model.Group{Name: name, GoName: goName, Package: folder, Versions: versions}
	}
	const root = "example.com/project/"
	out := &model.Output{ImportPath: root + "generated"}
	for n, pkg := range []string{
		"factory", "fmt", "informer", "internal", "iter", "keys", "lister", "listers", "main", "nil", "obj", "schema",
		"source", "store", "string", "type", "v1", "version",
	} {
		source, folder := "api"+pkg, pkg
		switch pkg { // a name of Go's is no folder
		case "internal", "main", "nil", "string", "type":
			folder += "api"
		}
		switch pkg {
		case "internal", "main", "type": // no importable package has such a path or name
		default:
			source = pkg
		}
		path := root + "api/" + source
		// a type named like its package
		goName := string(pkg[0]-'a'+'A') + pkg[1:]
		out.Groups = append(out.Groups, group(pkg+".example.com", goName, folder,
			version("v1", kind(path, source, goName, goName+"s", pkg+"s", n%2 == 0))))
	}
	path := root + "api/kinds"
	var kinds []*model.Type
	for n, name := range []string{
		"APIService", "Doc", "Factory", "Foo_linux", "Foo_test", "Group", "Index", "Informer", "Interface", "Lister", "New",
		"Resource", "VPA", "Version",
	} {
		kinds = append(kinds, kind(path, "kinds", name, name+"s", "s"+string(rune('a'+n)), n%2 == 0))
	}
	out.Groups = append(out.Groups,
		group("kinds.example.com", "Kinds", "kinds",
			version("v1", kinds...),
			version("v2", kind(root+"api/kinds/v2", "kinds", "Same", "Sames", "sames", true)),
			version("v2beta1", kind(root+"api/group", "group", "Same", "Sames", "sames", false))))
	return out
}

// single has the layout Single, with names of generated files and declarations, and expansions.
func single() *model.Output {
	out := sample()
	out.Layout, out.Package = model.Single, "generated"
	v := out.Groups[0].Versions[0]
	for n, name := range []string{"Factory", "Resource", "Informer", "VPA"} {
		v.Types = append(v.Types, &model.Type{Source: sampleSource, Name: name, Plural: name + "s", Resource: strings.ToLower(name) + "s", Namespaced: n%2 == 0})
	}
	v.Types[1].ListerExpansion, v.Types[1].NamespaceListerExpansion = true, true
	const path = "example.com/project/api/factory"
	out.Groups = append(out.Groups, &model.Group{
		Name: "factory.example.com", GoName: "Factory", Package: "factory",
		Versions: []*model.Version{{
			Name: "v1alpha1", GoName: "V1alpha1", Package: "v1alpha1",
			Types: []*model.Type{{Source: model.GoPackage{Path: path, Name: "factory"}, Name: "Part", Plural: "Parts", Resource: "parts", Namespaced: true, Indexes: []*model.Index{byNode}}},
		}},
	})
	return out
}

// header has a user's header with a build constraint.
func header() *model.Output {
	out := sample()
	out.Header = "/*\nCopyright The Shop.\n\npackage of words\n*/\n\n//go:build linux || !linux\n\n// Licensed under terms."
	return out
}

// deprecated has a type deprecated by its comment, one with a deprecated version, and one with an
// index on a deprecated field.
func deprecated() *model.Output {
	out := sample()
	types := out.Groups[0].Versions[0].Types
	types[0].Deprecated = "Sites are a thing of the past. Use " + strings.Repeat("places or ", 12) + "locations."
	types[0].Doc = []string{
		"Site is where widgets are", "", "Some heading", "", "A list:", "  - one", "  - two", "", "\tcode()", "", "The last line has no full stop",
	}
	types[1].Deprecated, types[1].Doc = "use v1.", nil
	other := widget()
	other.Name, other.Plural, other.Resource = "Old", "Olds", "olds"
	old := *byNode
	old.Deprecated = true
	other.Indexes = []*model.Index{&old}
	out.Groups[0].Versions[0].Types = append(types, other)
	return out
}
