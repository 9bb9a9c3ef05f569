// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"fmt"
	"go/token"
	"go/types"
	"reflect"

	"github.com/informer-gen/informer-gen/generator/diag"
	"github.com/informer-gen/informer-gen/generator/marker"
	"github.com/informer-gen/informer-gen/generator/model"
)

// listerMethods are the methods that every lister has.
var listerMethods = []string{"All", "Get", "InNamespace", "List", "Namespace", "Resource", "Snapshot"}

// indexes fills k.Indexes from the markers above the type.
func (r *resolver) indexes(a *api, d *declared, k *kind, t *types.Named) {
	first := map[string]token.Position{}
	methods := map[string]string{}
	for _, m := range listerMethods {
		methods[m] = "every lister has a method of this name"
	}
	if k.Namespaced {
		methods[k.Plural] = "the lister's method for a namespace is called so"
	}
	for _, m := range marker.All[marker.Index](d.markers) {
		name := m.Name.Text
		if !token.IsIdentifier(name) || !token.IsExported(name) {
			r.fail(m.At, m.Name.Pos, fmt.Sprintf("name %q is no exported Go name: it becomes the lister's method%s", name, didYouMeanExported(name)), nil)
			continue
		}
		if other, ok := first[name]; ok {
			r.fail(m.At, m.Name.Pos, fmt.Sprintf("type %s has an index %s already, at %s", k.Name, name, r.short(other)), nil)
			continue
		}
		first[name] = m.Name.Pos
		clash := false
		for _, method := range []string{name, "List" + name} {
			if why, ok := methods[method]; ok && !clash {
				r.fail(m.At, m.Name.Pos, fmt.Sprintf("an index can't be called %s: %s", name, why), nil)
				clash = true
			}
		}
		methods[name] = "it is the method of an index already"
		methods["List"+name] = fmt.Sprintf("it is a method of index %s already", name)
		if clash {
			continue
		}
		if x := r.index(a, k, t, m); x != nil {
			r.repeated(k, x, m)
			k.Indexes = append(k.Indexes, x)
			k.indexes = append(k.indexes, m.Name.Pos)
		}
	}
}

func didYouMeanExported(name string) string {
	if up := upperFirst(name); token.IsIdentifier(up) && token.IsExported(up) {
		return ", did you mean " + up + "?"
	}
	return ""
}

// index returns the index that m declares, or nil if it is wrong.
func (r *resolver) index(a *api, k *kind, t *types.Named, m *marker.Index) *model.Index {
	x := &model.Index{Name: m.Name.Text, Namespaced: m.Namespaced.Text == "true"}
	var ok bool
	switch given := keysOf(m); len(given) {
	case 0:
		r.fail(m.At, m.Pos, "index "+x.Name+" has no keys: give it a field, a func or an owner", nil)
		return nil
	case 1:
		ok = r.keys(a, k, t, m, x)
	default:
		r.fail(m.At, given[1].at, fmt.Sprintf("index %s has %s and %s: it takes one of them", x.Name, given[0].what, given[1].what), nil)
	}
	if m.When.IsSet() {
		ok = r.conditions(k, t, m, x) && ok
	}
	if !r.inNamespace(k, m, x) || !ok {
		return nil
	}
	return x
}

// keySource is an argument that says what the keys of an index are.
type keySource struct {
	what string
	at   token.Position
}

func keysOf(m *marker.Index) []keySource {
	var given []keySource
	if len(m.Fields) > 0 {
		given = append(given, keySource{"a field", m.Fields[0].Pos})
	}
	if m.Func.IsSet() {
		given = append(given, keySource{"a func", m.Func.Pos})
	}
	if m.Owner.IsSet() {
		given = append(given, keySource{"an owner", m.Owner.Pos})
	}
	return given
}

// keys fills in where the keys of x come from.
func (r *resolver) keys(a *api, k *kind, t *types.Named, m *marker.Index, x *model.Index) (ok bool) {
	switch {
	case m.Func.IsSet():
		return r.indexFunc(a, t, m, x)
	case m.Owner.IsSet():
		return r.owner(m, x)
	}
	if ok = r.fieldPaths(t, m, x); !ok {
		return false
	}
	for i, path := range x.Paths {
		if why := sameForAll(k, path); why != "" {
			r.fail(m.At, m.Fields[i].Pos, why, nil)
			ok = false
		}
	}
	return ok
}

// sameForAll returns why the value at a path is the same for all objects; empty if it isn't.
func sameForAll(k *kind, path *model.FieldPath) string {
	switch {
	case isNamespace(path.Steps) && !k.Namespaced:
		return fmt.Sprintf("%s is always empty, because %s is cluster-scoped", path.Text, k.Name)
	case path.Steps[0].Field == "TypeMeta":
		return fmt.Sprintf("%s is the same for every %s, or left out", path.Text, k.Name)
	}
	return ""
}

// isNamespace reports whether a path leads to the namespace of the object.
func isNamespace(steps []model.Step) bool {
	return len(steps) == 2 && steps[0].Field == "ObjectMeta" && steps[1].Field == "Namespace"
}

// inNamespace checks that an index whose keys count within a namespace can have such keys.
func (r *resolver) inNamespace(k *kind, m *marker.Index, x *model.Index) bool {
	if !x.Namespaced {
		return true
	}
	if !k.Namespaced {
		r.fail(m.At, m.Namespaced.Pos, fmt.Sprintf("namespaced contradicts the scope of %s, which is cluster-scoped", k.Name), nil)
		return false
	}
	for i, path := range x.Paths {
		if len(x.Paths) == len(m.Fields) && isNamespace(path.Steps) { // else some of them are wrong
			r.fail(m.At, m.Fields[i].Pos, fmt.Sprintf("with namespaced, the namespace is a part of every key: leave %s or namespaced out", path.Text), nil)
			return false
		}
	}
	return true
}

// repeated warns of an index that holds the same as one before it.
func (r *resolver) repeated(k *kind, x *model.Index, m *marker.Index) {
	for i, other := range k.Indexes {
		same := *other
		same.Name = x.Name
		if reflect.DeepEqual(same, *x) {
			r.report.Add(diag.Diagnostic{Pos: m.Name.Pos, Marker: m.At.Name, Warning: true,
				Message: fmt.Sprintf("index %s holds the same as index %s at %s", x.Name, other.Name, r.short(k.indexes[i]))})
			return
		}
	}
}
