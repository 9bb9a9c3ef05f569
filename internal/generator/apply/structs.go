// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
	"github.com/informer-gen/informer-gen/internal/generator/model"
	"github.com/informer-gen/informer-gen/internal/generator/names"
	"github.com/informer-gen/informer-gen/internal/generator/typename"
)

// pkg is a generated package under construction.
type pkg struct {
	*Reader
	own     map[*types.Package]bool // packages of the kinds
	taken   map[string]bool         // Go names
	structs map[string]string       // names of the structs so far, by key
	within  []types.Type            // named types that value is in, apart from structs
	out     *model.ApplyConfiguration
}

// addKind adds the struct of a kind, and those of its fields. Its metadata are embedded structs of
// client-go, whose methods controller-runtime's client needs.
func (p *pkg) addKind(kind Kind) {
	s := kind.Type.Underlying().(*types.Struct)
	out := &model.Struct{Name: kind.Name + Suffix}
	p.out.Structs = append(p.out.Structs, out)
	taken := map[string]bool{"IsApplyConfiguration": true}
	meta := map[*types.Var]bool{}
	for _, name := range []string{"TypeMeta", "ObjectMeta"} {
		i := gotypes.MetaField(s, name)
		v := s.Field(i)
		meta[v] = true
		tag := `json:",inline"`
		if jsonName, inline := gotypes.JSONName(v, s.Tag(i)); !inline {
			tag = fmt.Sprintf(`json:%q`, jsonName+",omitzero")
		}
		taken[name+Suffix] = true
		out.Fields = append(out.Fields, &model.Field{Name: name + Suffix, Embedded: true, Tag: tag, Value: &model.Value{Type: []model.GoType{
			{Path: metaConfigurations, Package: "v1", Name: name + Suffix},
		}}})
	}
	fields := slices.DeleteFunc(gotypes.Fields(s), func(f gotypes.Field) bool {
		return meta[f.Var] || len(f.Through) > 0 && meta[f.Through[0]]
	})
	p.addFields(out, kind.Name, fields, taken)
}

// addStruct adds a struct for t under a free name, with those of its fields, and returns its name.
func (p *pkg) addStruct(t types.Type, base, of string) string {
	name := names.UpperFirst(base)
	named, isNamed := t.(*types.Named)
	if isNamed {
		name = instanceName(named)
		if obj := named.Obj(); p.taken[name+Suffix] || !p.own[obj.Pkg()] && p.declares(name) {
			name = names.UpperFirst(obj.Pkg().Name()) + name
		}
		of = gotypes.String(t)
	}
	for n, whole := 2, name; p.taken[name+Suffix]; n++ {
		name = fmt.Sprintf("%s%d", whole, n)
	}
	out := &model.Struct{Name: name + Suffix, Of: of}
	p.taken[out.Name] = true
	p.out.Structs = append(p.out.Structs, out)
	if isNamed {
		p.structs[key(t)] = out.Name
	}
	p.addFields(out, name, gotypes.Fields(t.Underlying().(*types.Struct)), map[string]bool{})
	return out.Name
}

// declares reports whether a package of the kinds declares a type with this name. It keeps the name
// even if none of the structs so far is of that type.
func (p *pkg) declares(name string) bool {
	for own := range p.own {
		if _, ok := own.Scope().Lookup(name).(*types.TypeName); ok {
			return true
		}
	}
	return false
}

// instanceName returns the name of a type, with those of its type arguments.
func instanceName(t *types.Named) string {
	name := names.UpperFirst(t.Obj().Name())
	for argument := range t.TypeArgs().Types() {
		for {
			elem, ok := gotypes.Elem(argument)
			if _, isNamed := types.Unalias(argument).(*types.Named); isNamed || !ok {
				break
			}
			argument = elem
		}
		switch argument := types.Unalias(argument).(type) {
		case *types.Named:
			name += instanceName(argument)
		case *types.Basic:
			name += names.UpperFirst(argument.Name())
		}
	}
	return name
}

// addFields adds fields to out. Fields of embedded structs become its own, as in JSON.
func (p *pkg) addFields(out *model.Struct, in string, fields []gotypes.Field, taken map[string]bool) {
	for _, f := range fields {
		name := f.Var.Name()
		if n := len(f.Through); taken[name] && n > 0 {
			name = names.UpperFirst(f.Through[n-1].Name()) + name
		}
		if taken[name] {
			p.fail(f, "an apply configuration has another field or method "+name)
			continue
		}
		taken[name] = true
		v, why := p.field(f, in+name, fmt.Sprintf("field %s of %s", name, in))
		if why != "" {
			p.fail(f, why)
			continue
		}
		v.Name = name
		out.Fields = append(out.Fields, v)
	}
}

func (p *pkg) fail(f gotypes.Field, why string) {
	p.report.FailAt(p.report.Position(f.Var.Pos()), fmt.Sprintf("field %s can't be applied: %s", f.Var.Name(), why))
}

// field returns the field for f. It is unset if it is nil or, for a struct, if all its fields are.
func (p *pkg) field(f gotypes.Field, base, of string) (*model.Field, string) {
	t := types.Unalias(f.Var.Type())
	v, differs, why := p.value(t, base, of)
	if why != "" {
		return nil, why
	}
	option := "omitempty"
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Interface:
	case *types.Slice, *types.Map:
		option = "omitzero" // an empty one is sent
	case *types.Struct:
		// A pointer keeps a struct finite that contains itself through an embedded pointer.
		byPointer := func(v *types.Var) bool { _, ok := gotypes.Deref(v.Type()); return ok }
		if isOurs := differs && v[0].Path == ""; isOurs && !slices.ContainsFunc(f.Through, byPointer) {
			option = "omitzero"
		} else {
			v = pointerTo(v)
		}
	default:
		v = pointerTo(v)
	}
	if isQuoted(f.Tag) {
		option += ",string"
	}
	return &model.Field{Value: &model.Value{Type: v}, Tag: fmt.Sprintf(`json:%q`, f.Name+","+option)}, ""
}

func pointerTo(v []model.GoType) []model.GoType { return append([]model.GoType{{Name: "*"}}, v...) }

// isQuoted reports whether a tag asks for numbers in quotes.
func isQuoted(tag string) bool {
	options := strings.Split(reflect.StructTag(tag).Get("json"), ",")
	return slices.Contains(options[1:], "string")
}

// value returns a type like t with apply configurations for its structs, and whether it differs
// from t. A struct without a name is named base and described by of.
func (p *pkg) value(t types.Type, base, of string) (v []model.GoType, differs bool, why string) {
	t = types.Unalias(t)
	named, isNamed := t.(*types.Named)
	isNameable := !isNamed || typename.Unnameable(named.Obj(), p.output) == ""
	_, isStruct := t.Underlying().(*types.Struct)
	if gotypes.MarshalsItself(t) || slices.Contains(p.within, t) {
		v, why = p.unchanged(t)
		return v, false, why
	}
	if isNamed && !isStruct {
		p.within = append(p.within, t)
		defer func() { p.within = p.within[:len(p.within)-1] }()
	}
	around := func(prefix string, elem types.Type) {
		if v, differs, why = p.value(elem, base, of); differs {
			v = append([]model.GoType{{Name: prefix}}, v...)
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		if !isNamed && u.NumFields() == 0 {
			break
		}
		if of := p.ofClientGo(t); of.Path != "" {
			return []model.GoType{of}, true, ""
		}
		name := p.structs[key(t)]
		if name == "" || !isNamed {
			name = p.addStruct(t, base, of)
		}
		return []model.GoType{{Name: name}}, true, ""
	case *types.Pointer:
		around("*", u.Elem())
	case *types.Slice:
		around("[]", u.Elem())
	case *types.Array:
		around(fmt.Sprintf("[%d]", u.Len()), u.Elem())
	case *types.Map:
		return p.mapValue(t, u, isNameable, base, of)
	case *types.Interface:
		if !u.Empty() && !isNamed {
			why = "JSON can't be decoded into an interface with methods"
		}
	case *types.Basic:
		if u.Info()&types.IsComplex != 0 || u.Kind() == types.UnsafePointer {
			why = "JSON has no values of type " + gotypes.String(t)
		}
	default:
		why = "JSON has no values of type " + gotypes.String(t)
	}
	if differs || why != "" {
		return v, differs, why
	}
	if !isNameable {
		v, why = p.unchanged(t.Underlying())
		return v, true, why
	}
	v, why = p.unchanged(t)
	return v, false, why
}

func (p *pkg) unchanged(t types.Type) ([]model.GoType, string) {
	p.out.Deprecated = p.out.Deprecated || p.docs.IsTypeDeprecated(t)
	return typename.Of(t, p.output)
}

func (p *pkg) mapValue(t types.Type, m *types.Map, isNameable bool, base, of string) (v []model.GoType, differs bool, why string) {
	key, keyDiffers, why := p.value(m.Key(), base, of)
	if info, ok := m.Key().Underlying().(*types.Basic); why == "" && !gotypes.MarshalsItself(m.Key()) &&
		(!ok || info.Info()&(types.IsString|types.IsInteger) == 0) {
		why = "JSON has no map keys of type " + gotypes.String(m.Key())
	}
	if why != "" {
		return nil, false, why
	}
	elem, elemDiffers, why := p.value(m.Elem(), base, of)
	if why != "" || isNameable && !keyDiffers && !elemDiffers {
		if why == "" {
			v, why = p.unchanged(t)
		}
		return v, false, why
	}
	v = append(append([]model.GoType{{Name: "map["}}, key...), model.GoType{Name: "]"})
	return append(v, elem...), true, ""
}
