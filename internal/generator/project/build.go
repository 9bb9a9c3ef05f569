// SPDX-License-Identifier: Apache-2.0

package project

import (
	"fmt"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
	"github.com/informer-gen/informer-gen/internal/generator/jsonpath"
	"github.com/informer-gen/informer-gen/internal/generator/model"
	"github.com/informer-gen/informer-gen/internal/generator/names"
	"github.com/informer-gen/informer-gen/internal/generator/typename"
)

type builder struct {
	*projection
	pkg *types.Package
	out *model.Projection
	// protobuf means that informers of the kind ask for protobuf.
	protobuf bool
}

// build returns the projection, and reports fields it can't have.
func (p *projection) build() Declared {
	b := builder{
		projection: p, pkg: types.NewPackage(p.reader.output+"/"+Package, Package),
		out: &model.Projection{Of: p.kind.Name}, protobuf: hasProtobuf(p.kind.Type),
	}
	for _, value := range p.marker.Fields {
		b.out.Paths = append(b.out.Paths, value.Text)
	}
	_, named := b.structOf(p.marker.Name.Text, "", p.kind.Type.Underlying().(*types.Struct), p.withMetadata())
	return Declared{Projection: b.out, Marker: p.marker, Type: named}
}

func (p *projection) withMetadata() *node {
	root := p.root
	root.enter(p.metaField("TypeMeta"), p.marker.Name, 0).whole = true
	metadata := p.metaField("ObjectMeta")
	meta := root.enter(metadata, p.marker.Name, 0)
	for of := range metadata.Type().Underlying().(*types.Struct).Fields() {
		if meta.whole || commonFields[of.Name()] {
			meta.enter(of, meta.value, meta.last).whole = true
		}
	}
	meta.whole = false
	return root
}

func (p *projection) metaField(name string) *types.Var {
	s := p.kind.Type.Underlying().(*types.Struct)
	return s.Field(gotypes.MetaField(s, name))
}

func (p *projection) isMeta(v *types.Var) bool {
	return v == p.metaField("TypeMeta") || v == p.metaField("ObjectMeta")
}

// structOf adds a struct with the fields of s selected by n to the projection, and returns it.
func (b *builder) structOf(name, path string, s *types.Struct, n *node) (*model.Struct, *types.Named) {
	out := &model.Struct{Name: name, Path: path}
	b.out.Structs = append(b.out.Structs, out)
	var fields []*types.Var
	var tags []string
	for i := range s.NumFields() {
		v := s.Field(i)
		child := n.fields[v]
		if child == nil {
			continue
		}
		tag := decoderTags(s.Tag(i))
		if b.protobuf && (path != "" || !b.isMeta(v)) {
			b.warnWithoutNumber(v, tag, child)
		}
		field, t := b.field(name, path, v, tag, child)
		if hidesMethod(field.Name) {
			b.fail(child.value, jsonpath.Errorf(child.last, "field %s would hide the generated method of this name, so a projection can't have it", field.Name))
		}
		b.out.Deprecated = b.out.Deprecated || b.reader.docs.IsDeprecated(v)
		out.Fields = append(out.Fields, field)
		fields = append(fields, types.NewField(v.Pos(), b.pkg, field.Name, t, field.Embedded))
		tags = append(tags, tag)
	}
	of := types.NewTypeName(token.NoPos, b.pkg, name, nil)
	if other := b.pkg.Scope().Insert(of); other != nil {
		b.fail(n.value, jsonpath.Errorf(n.last, "the types of this field and of another one would both be called %s: select one of them as a whole", name))
	}
	return out, types.NewNamed(of, types.NewStruct(fields, tags), nil)
}

// field returns the field for v, and its type. Without a name in its tag, an embedded struct puts
// its fields into the JSON of the outer struct, so it stays embedded. So does the object's
// metadata, to give a projection's name the same selector as an object's.
func (b *builder) field(in, path string, v *types.Var, tag string, n *node) (*model.Field, types.Type) {
	jsonName, isNamed := jsonName(tag)
	f := &model.Field{Name: v.Name(), From: v.Name(), Tag: tag}
	if n.whole {
		f.Embedded = v.Embedded()
		f.Value = b.whole(v.Type(), n)
		return f, v.Type()
	}
	name := in + names.UpperFirst(v.Name())
	isMetadata := path == "" && v == b.metaField("ObjectMeta")
	switch {
	case isMetadata:
		name, jsonName, isNamed = in+"Meta", "metadata", true
	case !isNamed:
		jsonName = v.Name()
	}
	f.Embedded = isMetadata || v.Embedded() && !isNamed
	if !f.Embedded || isNamed {
		path += "." + jsonName
	}
	if f.Embedded {
		f.Name = name
	}
	if !v.Exported() {
		f.From = ""
	}
	var t types.Type
	f.Value, t = b.part(name, path, v.Type(), n)
	return f, t
}

// part returns a type like t, with n's fields in the struct it leads to.
func (b *builder) part(name, path string, t types.Type, n *node) (*model.Value, types.Type) {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		elem, of := b.part(name, path, p.Elem(), n)
		return wrapped(model.Value{Pointer: true}, elem, "*"), types.NewPointer(of)
	}
	switch u := t.Underlying().(type) {
	case *types.Slice:
		elem, of := b.part(name, path+"[*]", u.Elem(), n)
		return wrapped(model.Value{}, elem, "[]"), types.NewSlice(of)
	case *types.Array:
		elem, of := b.part(name, path+"[*]", u.Elem(), n)
		return wrapped(model.Value{Array: true, Plain: elem.Plain}, elem, fmt.Sprintf("[%d]", u.Len())), types.NewArray(of, u.Len())
	case *types.Map:
		elem, of := b.part(name, path+"[*]", u.Elem(), n)
		v := wrapped(model.Value{Map: true}, elem, "]")
		key, why := typename.Of(u.Key(), b.reader.output)
		if why != "" {
			b.failNode(n, why)
		}
		v.Type = append(append([]model.GoType{{Name: "map["}}, key...), v.Type...)
		return v, types.NewMap(u.Key(), of)
	}
	s, named := b.structOf(name, path, t.Underlying().(*types.Struct), n)
	v := &model.Value{Type: []model.GoType{{Name: name}}, Struct: s, Plain: s.IsPlain()}
	if !v.Plain {
		v.Copy = deepCopyInto
	}
	return v, named
}

func wrapped(v model.Value, elem *model.Value, prefix string) *model.Value {
	v.Elem, v.Type = elem, append([]model.GoType{{Name: prefix}}, elem.Type...)
	return &v
}

func decoderTags(tag string) string {
	text := ""
	for _, key := range []string{"json", "protobuf"} {
		if value, ok := reflect.StructTag(tag).Lookup(key); ok {
			if text != "" {
				text += " "
			}
			text += fmt.Sprintf("%s:%q", key, value)
		}
	}
	return text
}

func jsonName(tag string) (name string, ok bool) {
	name, _, _ = strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	return name, name != ""
}

func hidesMethod(name string) bool {
	return name == "DeepCopy" || name == "DeepCopyInto" || name == "DeepCopyObject"
}
