// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"slices"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

// Types of values in projections, in pieces.
var (
	text  = []model.GoType{str}
	times = []model.GoType{{Path: metaPath, Package: "v1", Name: "Time"}}
	owner = []model.GoType{{Path: metaPath, Package: "v1", Name: "OwnerReference"}}
	uid   = []model.GoType{{Path: "k8s.io/apimachinery/pkg/types", Package: "types", Name: "UID"}}
)

func plain(typ []model.GoType) *model.Value { return &model.Value{Type: typ, Plain: true} }

// copied returns a value with a method that copies it.
func copied(typ []model.GoType, method string) *model.Value {
	return &model.Value{Type: typ, Copy: method}
}

// leading returns the value of a type around elem.
func leading(v model.Value, prefix string, elem *model.Value) *model.Value {
	v.Elem, v.Type = elem, append([]model.GoType{{Name: prefix}}, elem.Type...)
	return &v
}

func pointer(elem *model.Value) *model.Value { return leading(model.Value{Pointer: true}, "*", elem) }
func slice(elem *model.Value) *model.Value   { return leading(model.Value{}, "[]", elem) }
func mapOf(elem *model.Value) *model.Value {
	return leading(model.Value{Map: true}, "map[string]", elem)
}
func arrayOf(elem *model.Value) *model.Value {
	return leading(model.Value{Array: true, Plain: elem.Plain}, "[2]", elem)
}

// part returns the value of one of a projection's own structs.
func part(s *model.Struct) *model.Value {
	v := &model.Value{Type: []model.GoType{{Name: s.Name}}, Struct: s, Plain: s.IsPlain()}
	if !v.Plain {
		v.Copy = "DeepCopyInto"
	}
	return v
}

func member(name string, v *model.Value) *model.Field {
	return &model.Field{Name: name, From: name, Value: v, Tag: `json:"` + name + `"`}
}

// projections is sample with a projection that has a value of every shape, and three whose fields
// that one has, of which one has a deprecated field.
func projections() *model.Output {
	out := sample()
	types := &out.Groups[0].Versions[0].Types
	target := func(name, path string) *model.Struct {
		return &model.Struct{Name: "WidgetParts" + name, Path: ".spec." + path, Fields: []*model.Field{
			member("Name", plain(text)), member("Labels", mapOf(plain(text))),
		}}
	}
	var names []*model.Struct
	name := func(name, path string) *model.Struct {
		names = append(names, &model.Struct{Name: "WidgetTargets" + name, Path: ".spec." + path, Fields: []*model.Field{member("Name", plain(text))}})
		return names[len(names)-1]
	}
	rule := &model.Struct{Name: "WidgetPartsRule", Path: ".spec.targets[*].rules[*]", Fields: []*model.Field{member("Ref", pointer(plain(text)))}}
	byPointer, inList, inMap := target("Target", "target"), target("Targets", "targets[*]"), target("Structs", "structs[*]")
	pointers, inPointerMap := target("Pointers", "pointers[*]"), target("PointerMap", "pointerMap[*]")
	optional := &model.Struct{Name: "WidgetPartsOptionalTargets", Path: ".spec.optionalTargets[*]", Fields: []*model.Field{member("Name", plain(text))}}
	inList.Fields = append(inList.Fields, member("Rules", slice(part(rule))))
	spec := &model.Struct{Name: "WidgetPartsSpec", Path: ".spec", Fields: []*model.Field{
		member("NodeName", plain(text)), member("Ref", pointer(plain(text))), member("Refs", slice(pointer(plain(text)))),
		member("Matrix", slice(slice(plain(text)))), member("Lists", mapOf(slice(plain(text)))), member("MapOfMaps", mapOf(mapOf(plain(text)))),
		member("Pair", arrayOf(plain(text))), member("Optional", pointer(slice(plain(text)))),
		member("Target", pointer(part(byPointer))), member("Targets", slice(part(inList))), member("Pointers", slice(pointer(part(pointers)))),
		member("Structs", mapOf(part(inMap))), member("PointerMap", mapOf(pointer(part(inPointerMap)))),
		member("OptionalTargets", pointer(slice(part(optional)))),
	}}
	targets := &model.Struct{Name: "WidgetTargetsSpec", Path: ".spec", Fields: []*model.Field{
		member("Target", pointer(part(name("Target", "target")))), member("Targets", slice(part(name("Targets", "targets[*]")))),
		member("Pointers", slice(pointer(part(name("Pointers", "pointers[*]"))))), member("Structs", mapOf(part(name("Structs", "structs[*]")))),
		member("PointerMap", mapOf(pointer(part(name("PointerMap", "pointerMap[*]"))))),
	}}
	*types = append(*types,
		projectionOf("WidgetParts", []string{".metadata.labels", ".spec.nodeName", ".spec.target.name"}, []*model.Field{
			member("DeletionTimestamp", pointer(copied(times, "DeepCopyInto"))), member("Labels", mapOf(plain(text))),
			member("OwnerReferences", slice(copied(owner, "DeepCopyInto"))),
		}, spec, byPointer, inList, rule, pointers, inMap, inPointerMap, optional),
		projectionOf("ItsOwners", []string{".metadata.ownerReferences"}, []*model.Field{member("OwnerReferences", slice(copied(owner, "DeepCopyInto")))}),
		projectionOf("WidgetTargets", []string{".spec.target.name", ".spec.targets[*].name"}, nil, append([]*model.Struct{targets}, names...)...),
		projectionOf("OldPlace", []string{".spec.nodeName"}, nil,
			&model.Struct{Name: "OldPlaceSpec", Path: ".spec", Fields: []*model.Field{member("NodeName", plain(text))}}),
	)
	(*types)[len(*types)-4].Indexes = []*model.Index{byNode}
	(*types)[len(*types)-1].Projection.Deprecated = true
	return out
}

// projectionsSingle is projections in the layout Single.
func projectionsSingle() *model.Output {
	out := projections()
	out.Layout, out.Package = model.Single, "generated"
	return out
}

// projectionOf returns a projection of widgets, with some fields of the metadata and, if there are
// structs, the first one as its spec.
func projectionOf(name string, paths []string, meta []*model.Field, structs ...*model.Struct) *model.Type {
	inMeta := &model.Struct{Name: name + "Meta", Path: ".metadata", Fields: slices.Concat([]*model.Field{
		member("Name", plain(text)), member("Namespace", plain(text)), member("UID", plain(uid)), member("ResourceVersion", plain(text)),
	}, meta)}
	itself := &model.Struct{Name: name, Fields: []*model.Field{
		{Name: "TypeMeta", From: "TypeMeta", Embedded: true, Tag: `json:",inline"`, Value: plain([]model.GoType{{Path: metaPath, Package: "v1", Name: "TypeMeta"}})},
		{Name: name + "Meta", From: "ObjectMeta", Embedded: true, Tag: `json:"metadata"`, Value: part(inMeta)},
	}}
	if len(structs) > 0 {
		itself.Fields = append(itself.Fields, member("Spec", part(structs[0])))
	}
	return &model.Type{
		Source: sampleSource, Name: name, Plural: name + "s", Resource: "widgets", Namespaced: true,
		Projection: &model.Projection{Of: "Widget", Paths: paths, Structs: slices.Concat([]*model.Struct{itself, inMeta}, structs)},
	}
}
