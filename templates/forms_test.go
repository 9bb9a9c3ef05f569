// SPDX-License-Identifier: Apache-2.0

package templates

import "github.com/informer-gen/informer-gen/internal/generator/model"

// Steps in many paths of the model forms.
var (
	spec = model.Step{Field: "Spec"}
	meta = model.Step{Field: "ObjectMeta"}
	name = model.Step{Field: "Name"}
	ref  = model.Step{Field: "Ref", Pointer: true}
	str  = model.GoType{Name: "string"}
)

func to(text string, steps ...model.Step) *model.FieldPath {
	return &model.FieldPath{Text: text, Steps: steps, Key: str}
}

func named(name string, path *model.FieldPath) *model.FieldPath {
	p := *path
	p.Name = name
	return &p
}

func entry(field, key string) model.Step {
	return model.Step{Field: field, Entry: `"` + key + `"`}
}

func each(field string) model.Step { return model.Step{Field: field, Each: true} }

// forms has an index for every form other than a plain path: entries, keys and values of maps,
// lists of lists, several paths, owners, conditions, keys by namespace, functions of other
// packages.
func forms() *model.Output {
	out := sample()
	suspend := to(".spec.suspend", spec, model.Step{Field: "Suspend", Pointer: true})
	app := to(".metadata.labels['app']", meta, entry("Labels", "app"))
	deleted := to(".metadata.deletionTimestamp", meta, model.Step{Field: "DeletionTimestamp", Pointer: true})
	plain := to(".spec.name", spec, name)
	inTarget := to(".spec.target.labels['app']", spec, model.Step{Field: "Target", Pointer: true}, entry("Labels", "app"))
	index := func(name string, path *model.FieldPath, when ...model.Condition) *model.Index {
		return &model.Index{Name: name, Key: str, Paths: []*model.FieldPath{path}, When: when}
	}
	is := func(path *model.FieldPath, literal string) model.Condition {
		return model.Condition{Path: path, Literal: literal}
	}
	isNot := func(path *model.FieldPath, literal string) model.Condition {
		return model.Condition{Path: path, Literal: literal, Not: true}
	}
	several := func(name string, paths ...*model.FieldPath) *model.Index {
		return &model.Index{Name: name, Paths: paths}
	}
	keysFunc := &model.Func{Package: model.GoPackage{Path: "example.com/project/keys", Name: "keys"}, Name: "Keys"}
	foreignKey := model.GoType{Path: "example.com/project/keys", Package: "keys", Name: "Key"}
	uid := model.GoType{Path: "k8s.io/apimachinery/pkg/types", Package: "types", Name: "UID"}
	byNamespace := func(x *model.Index) *model.Index {
		x.Namespaced = true
		return x
	}
	out.Groups[0].Versions[0].Types = []*model.Type{{
		Source: sampleSource,
		Name:   "Form", Plural: "Forms", Resource: "forms", Namespaced: true,
		Indexes: []*model.Index{
			// Maps and lists.
			index("ByEntry", app),
			index("ByKeys", to(".metadata.labels[keys]", meta, model.Step{Field: "Labels", Keys: true})),
			index("ByValues", to(".metadata.labels[*]", meta, model.Step{Field: "Labels", Each: true, Map: true})),
			index("ByMatrix", to(".spec.matrix[*][*]", spec, each("Matrix"), model.Step{Each: true})),
			index("ByCube", to(".spec.cube[*][*][*]", spec, each("Cube"), model.Step{Each: true}, model.Step{Each: true, ElemPointer: true})),
			index("ByEntryList", to(".spec.lists['a'][*]", spec, entry("Lists", "a"), model.Step{Each: true})),
			index("ByListsOfMap", to(".spec.lists[*][*]", spec, model.Step{Field: "Lists", Each: true, Map: true}, model.Step{Each: true})),
			index("ByEntryStruct", to(".spec.structs['a'].name", spec, entry("Structs", "a"), name)),
			index("ByEntryPointer", to(".spec.pointerMap['a'].ref", spec,
				model.Step{Field: "PointerMap", Entry: `"a"`, ElemPointer: true}, ref)),
			index("ByPointerMap", to(".spec.pointerMap[*].ref", spec,
				model.Step{Field: "PointerMap", Each: true, Map: true, ElemPointer: true}, ref)),
			index("ByStructMap", to(".spec.structs[*].name", spec, model.Step{Field: "Structs", Each: true, Map: true}, name)),
			index("ByOptionalMap", to(".spec.optionalMap['a']", spec, model.Step{Field: "OptionalMap", Pointer: true, Entry: `"a"`})),
			index("ByOptionalMapKeys", to(".spec.optionalMap[keys]", spec, model.Step{Field: "OptionalMap", Pointer: true, Keys: true})),
			index("ByListOfMaps", to(".spec.maps[*]['a']", spec, each("Maps"), model.Step{Entry: `"a"`})),
			index("ByMapOfMaps", to(".spec.mapOfMaps['a']['b']", spec, entry("MapOfMaps", "a"), model.Step{Entry: `"b"`})),
			index("ByNumber", to(".spec.numbers[1]", spec, model.Step{Field: "Numbers", Entry: "-1"})),
			index("ByTargetEntry", to(".spec.targets[*].labels['app']", spec, each("Targets"), entry("Labels", "app"))),

			// Several paths.
			several("ByTwo", named("Name", plain), named("App", app)),
			several("ByTwoRefs", named("SpecRef", to(".spec.ref", spec, ref)),
				named("TargetRef", to(".spec.target.ref", spec, model.Step{Field: "Target", Pointer: true}, ref))),
			several("BySameElement", named("Name", to(".spec.targets[*].name", spec, each("Targets"), name)),
				named("Ref", to(".spec.targets[*].ref", spec, each("Targets"), ref))),
			several("BySameRule", named("Ref", to(".spec.targets[*].rules[*].ref", spec, each("Targets"), each("Rules"), ref)),
				named("Name", to(".spec.targets[*].name", spec, each("Targets"), name)),
				named("Paths", to(".spec.targets[*].rules[*].paths[*]", spec, each("Targets"), each("Rules"), each("Paths")))),
			several("ByProduct", named("Names", to(".spec.names[*]", spec, each("Names"))),
				named("Pair", to(".spec.pair[*]", spec, model.Step{Field: "Pair", Each: true, Array: true}))),
			several("ByLabel", named("Key", to(".metadata.labels[keys]", meta, model.Step{Field: "Labels", Keys: true})),
				named("Value", to(".metadata.labels[*]", meta, model.Step{Field: "Labels", Each: true, Map: true}))),
			several("ByManyFields", named("FirstOfTheFields", plain), named("SecondOfTheFields", app),
				named("ThirdOfTheFields", to(".spec.target.name", spec, model.Step{Field: "Target", Pointer: true}, name))),

			// Owners and functions.
			{Name: "ByController", Key: uid, Owner: &model.Owner{Controller: true}},
			{Name: "ByDeployment", Key: str, Owner: &model.Owner{Group: "apps", Kind: "Deployment"}},
			{Name: "ByNodeOwner", Key: str, Owner: &model.Owner{Kind: "Node"}, When: []model.Condition{is(plain, `"a"`)}},
			{Name: "ByForeign", Key: foreignKey, Func: keysFunc},
			{
				Name: "ByValue", Key: model.GoType{Path: "example.com/project/value", Package: "value", Name: "Key"},
				Func: &model.Func{Package: model.GoPackage{Path: "example.com/project/value", Name: "value"}, Name: "Keys"},
			},
			{Name: "ByForeignWhen", Key: foreignKey, Func: keysFunc, When: []model.Condition{isNot(suspend, "true")}},

			// Conditions.
			index("WhenSuspended", plain, is(suspend, "true")),
			index("WhenNotSuspended", plain, isNot(suspend, "true")),
			index("WhenExplicitlyNotSuspended", plain, is(suspend, "false")),
			index("WhenPaused", plain, is(to(".spec.paused", spec, model.Step{Field: "Paused"}), "true")),
			index("WhenNotPaused", plain, isNot(to(".spec.paused", spec, model.Step{Field: "Paused"}), "true")),
			index("WhenAlive", plain, is(deleted, "nil")),
			index("WhenDeleted", plain, isNot(deleted, "nil")),
			index("WhenNoMatrix", plain, is(to(".spec.matrix", spec, model.Step{Field: "Matrix"}), "nil")),
			index("WhenApp", plain, is(app, `"a"`)),
			index("WhenOtherApp", plain, isNot(app, `"a"`)),
			index("WhenSomeApp", plain, isNot(app, "nil")),
			index("WhenNoApp", plain, is(app, "nil")),
			index("WhenApps", app, isNot(app, `""`), isNot(app, `"b"`), is(suspend, "true")),
			index("WhenTargetApp", plain, is(inTarget, `"a"`)),
			index("WhenNotTargetApp", plain, isNot(inTarget, `"a"`)),
			index("WhenNamed", to(".spec.targets[*].name", spec, each("Targets"), name), isNot(plain, `""`)),

			// Keys by namespace.
			byNamespace(index("InNamespace1", plain)),
			byNamespace(index("InNamespaceList", to(".spec.names[*]", spec, each("Names")))),
			byNamespace(several("InNamespaceTwo", named("Name", plain), named("App", app))),
			byNamespace(&model.Index{Name: "InNamespaceForeign", Key: foreignKey, Func: keysFunc}),
			byNamespace(&model.Index{Name: "InNamespaceController", Key: uid, Owner: &model.Owner{Controller: true}, When: []model.Condition{isNot(suspend, "true")}}),
		},
	}, {
		Source: sampleSource, Name: "Node", Plural: "Nodes", Resource: "nodes",
		Indexes: []*model.Index{index("ByEntry", app), several("ByTwo", named("Name", plain), named("App", app))},
	}, {
		Source: sampleSource, Name: "Only", Plural: "Onlys", Resource: "onlys", Namespaced: true,
		Indexes: []*model.Index{byNamespace(index("ByName", plain))},
	}}
	return out
}
