// SPDX-License-Identifier: Apache-2.0

// Package oracle computes the keys of an object in an index by reflection, as simply as it can, and
// checks the generated code of random indexes against them. It checks projections against the whole
// objects. The test of package random writes programs that call it.
package oracle

import (
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// Rule declares an index: by Paths or Func, and the other fields.
type Rule struct {
	Paths      []string
	Func       func(object.Object) []any
	When       []Condition
	Namespaced bool
}

// Condition compares the value at a path with a literal, or with null.
type Condition struct {
	Path, Literal string
	Not, Null     bool
}

// namespaces are the namespaces of the objects, and one without objects.
var namespaces = []string{"shop", "park", "void"}

// State is a store and its objects.
type State[T object.Object] struct {
	Store   *store.Store[T]
	objects map[object.Key]object.Object
	keys    map[string]int // seen so far, by index
}

// Run changes the objects of a store many times, and calls check with each state. If every is set,
// each index must have keys in one of the states.
func Run[T object.Object](seed uint64, newObject func() T, cluster, every bool, indexes []store.AnyIndex[T], check func(*State[T])) {
	s, err := store.New(indexes...)
	if err != nil {
		panic(err)
	}
	random := rand.New(rand.NewPCG(seed, 0))
	state := &State[T]{Store: s, objects: map[object.Key]object.Object{}, keys: map[string]int{}}
	states := 40
	if every {
		states = 200
	}
	for range states {
		err := s.Update(func(x *store.Txn[T]) error {
			for range 1 + random.IntN(3) {
				obj := newObject()
				fill(random, reflect.ValueOf(obj).Elem(), 0)
				obj.SetName(fmt.Sprint("n", random.IntN(5)))
				if !cluster {
					obj.SetNamespace(namespaces[random.IntN(2)])
				}
				key := object.KeyOf(obj)
				if random.IntN(5) == 0 {
					x.Delete(key)
					delete(state.objects, key)
					continue
				}
				state.objects[key] = obj
				if err := x.Set(obj); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			panic(err)
		}
		check(state)
	}
	for index, keys := range state.keys {
		keysSeen += keys
		if every && keys == 0 {
			failed++
			fmt.Fprintf(os.Stderr, "no object had a key in %s\n", index)
		}
	}
}

var failed, keysSeen int

// Report prints the number of comparisons, and reports whether all succeeded.
func Report() (ok bool) {
	fmt.Printf("%d keys of objects; objects as projections: %d\n", keysSeen, projectionsSeen)
	return failed == 0 && keysSeen > 0 && projectionsSeen > 0
}

// In returns the methods of an index on the lister of a namespace.
type In[T object.Object, K comparable] func(namespace string) (func(K) iter.Seq[T], func(K) []T)

// Methods makes an In from a lister's method for a namespace, and two methods of its result.
func Methods[T object.Object, K comparable, L any](
	lister func(string) L, all func(L, K) iter.Seq[T], list func(L, K) []T,
) In[T, K] {
	return func(namespace string) (func(K) iter.Seq[T], func(K) []T) {
		l := lister(namespace)
		return func(key K) iter.Seq[T] { return all(l, key) }, func(key K) []T { return list(l, key) }
	}
}

// Check checks an index, and the listers' methods for it, against the rule. in is nil for
// cluster-scoped kinds.
func Check[T object.Object, K comparable](
	s *State[T], x *store.Index[T, K], rule Rule, all func(K) iter.Seq[T], list func(K) []T, in In[T, K],
) {
	c := checked{rule: rule, name: x.Name(), objects: s.objects, key: reflect.TypeFor[K]()}
	for key := range x.Keys(s.Store.Snapshot()) {
		c.has = append(c.has, key)
	}
	c.find = func(key any) [][]object.Key {
		k := key.(K)
		found := [][]object.Key{names(x.List(s.Store.Snapshot(), k)), names(slices.Collect(all(k))), names(list(k))}
		if in != nil {
			for _, namespace := range append([]string{""}, namespaces...) {
				inAll, inList := in(namespace)
				found = append(found, names(slices.Collect(inAll(k))), names(inList(k)))
			}
		}
		return found
	}
	s.keys[x.Name()] += c.check()
}

// CheckNamespaced is Check for an index whose keys count within a namespace.
func CheckNamespaced[T object.Object, K comparable](
	s *State[T], x *store.Index[T, store.NamespacedKey[K]], rule Rule, in In[T, K],
) {
	c := checked{rule: rule, name: x.Name(), objects: s.objects, key: reflect.TypeFor[store.NamespacedKey[K]]()}
	for key := range x.Keys(s.Store.Snapshot()) {
		c.has = append(c.has, key)
	}
	c.find = func(key any) [][]object.Key {
		k := key.(store.NamespacedKey[K])
		all, list := in(k.Namespace)
		return [][]object.Key{names(x.List(s.Store.Snapshot(), k)), names(slices.Collect(all(k.Key))), names(list(k.Key))}
	}
	s.keys[x.Name()] += c.check()
}

func names[T object.Object](list []T) []object.Key {
	var keys []object.Key
	for _, obj := range list {
		keys = append(keys, object.KeyOf(obj))
	}
	return sorted(keys)
}

func sorted(keys []object.Key) []object.Key {
	slices.SortFunc(keys, func(a, b object.Key) int {
		return slices.Compare([]string{a.Namespace, a.Name}, []string{b.Namespace, b.Name})
	})
	return keys
}

type checked struct {
	rule    Rule
	name    string
	objects map[object.Key]object.Object
	key     reflect.Type
	has     []any // keys
	// find returns the objects found by a key: by the index, by the two methods of the lister if it
	// has some, and by those of the listers of namespaces.
	find func(key any) [][]object.Key
}

func (c *checked) check() int {
	// the zero key is looked up even if no object has it
	want := map[any][]object.Key{reflect.Zero(c.key).Interface(): nil}
	seen := 0
	for name, obj := range c.objects {
		for key := range keys(c.rule, obj, c.key) {
			seen++
			want[key] = append(want[key], name)
		}
	}
	for _, key := range c.has {
		if want[key] == nil {
			c.fail("there is a key %#v that no object has", key)
		}
	}
	for key, objects := range want {
		for n, found := range c.find(key) {
			there := sorted(slices.Clone(objects))
			if n > 4 { // 0 is the index, 1 and 2 are all namespaces, and so are 3 and 4
				there = slices.DeleteFunc(there, func(o object.Key) bool { return o.Namespace != namespaces[(n-5)/2] })
			}
			if !slices.Equal(found, there) {
				c.fail("method %d finds %v at %#v, want %v", n, found, key, there)
			}
		}
	}
	return seen
}

func (c *checked) fail(format string, args ...any) {
	if failed++; failed <= 20 {
		fmt.Fprintf(os.Stderr, "%s %+v: %s\n", c.name, c.rule, fmt.Sprintf(format, args...))
	}
}

func keys(rule Rule, obj object.Object, key reflect.Type) map[any]bool {
	found := map[any]bool{}
	root := reflect.ValueOf(obj).Elem()
	for _, c := range rule.When {
		if !c.holds(root) {
			return nil
		}
	}
	add := func(parts ...reflect.Value) {
		key := reflect.New(key).Elem()
		at := key
		if rule.Namespaced {
			at.FieldByName("Namespace").SetString(obj.GetNamespace())
			at = at.FieldByName("Key")
		}
		if len(parts) == 1 {
			at.Set(parts[0])
		} else {
			for i, part := range parts {
				at.Field(i).Set(part)
			}
		}
		found[key.Interface()] = true
	}
	if rule.Func != nil {
		for _, key := range rule.Func(obj) {
			add(reflect.ValueOf(key))
		}
		return found
	}
	rows := []Row[reflect.Value]{{}}
	for _, path := range rule.Paths {
		rows = Join(rows, walk(root, path))
	}
	for _, r := range rows {
		add(r.Values...)
	}
	return found
}

// Any converts keys of any type.
func Any[K comparable](keys []K) []any {
	var all []any
	for _, key := range keys {
		all = append(all, key)
	}
	return all
}

// Owners returns the keys of an index with an owner.
func Owners(obj object.Object, owner string) []any {
	var found []any
	kind, group, _ := strings.Cut(owner, ".")
	for _, ref := range obj.GetOwnerReferences() {
		of, _, ok := strings.Cut(ref.APIVersion, "/")
		if !ok {
			of = ""
		}
		switch {
		case owner == "controller" && ref.Controller != nil && *ref.Controller:
			return []any{ref.UID}
		case owner != "controller" && ref.Kind == kind && of == group:
			found = append(found, ref.Name)
		}
	}
	return found
}

// Row has a value for each path so far, and the elements around them: a path up to its bracket, and
// a place there.
type Row[V any] struct {
	Elements map[string]any
	Values   []V
}

// Join combines the rows of two sets about the same elements.
func Join[V any](left, right []Row[V]) []Row[V] {
	var joined []Row[V]
	for _, l := range left {
		for _, r := range right {
			elements := maps.Clone(r.Elements)
			same := true
			for path, at := range l.Elements {
				if there, ok := elements[path]; ok && there != at {
					same = false
				}
				elements[path] = at
			}
			if same {
				joined = append(joined, Row[V]{elements, append(slices.Clone(l.Values), r.Values...)})
			}
		}
	}
	return joined
}

func (c Condition) holds(root reflect.Value) bool {
	rows := walk(root, c.Path)
	equal := len(rows) == 0 && c.Null
	if len(rows) > 0 && !c.Null {
		equal = fmt.Sprint(rows[0].Values[0].Interface()) == c.Literal
	}
	return equal != c.Not
}
