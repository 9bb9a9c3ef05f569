// SPDX-License-Identifier: Apache-2.0

// Package forms runs what is generated for the model of that name. TestGeneratedCodeCompiles
// copies this file beside it.
package forms

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	api "example.com/project/forms/api/v1alpha1"
	"example.com/project/forms/generated/listers/samples/v1alpha1"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// keysOf returns a function that gives the keys of one object, as text and in order.
func keysOf[K comparable](in *store.Index[*api.Form, K]) func(*testing.T, *api.Form) []string {
	return func(t *testing.T, obj *api.Form) []string {
		t.Helper()
		s := fill(t, obj)
		keys := []string{}
		for key := range in.Keys(s.Snapshot()) {
			keys = append(keys, fmt.Sprint(key))
			if got := in.List(s.Snapshot(), key); !slices.Equal(got, []*api.Form{obj}) {
				t.Errorf("%s: key %v finds %d objects", in.Name(), key, len(got))
			}
		}
		slices.Sort(keys)
		return keys
	}
}

func fill(t *testing.T, objs ...*api.Form) *store.Store[*api.Form] {
	t.Helper()
	s, err := store.New(v1alpha1.FormIndexes()...)
	if err != nil {
		t.Fatal(err)
	}
	err = s.Update(func(x *store.Txn[*api.Form]) error {
		for _, obj := range objs {
			if err := x.Set(obj); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ptr[T any](v T) *T { return &v }

// full has every part that a path names, and more than one of each element.
func full() *api.Form {
	now := metav1.NewTime(time.Unix(1, 0))
	return &api.Form{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "full", Labels: map[string]string{"app": "a", "tier": "t"}, DeletionTimestamp: &now,
			OwnerReferences: []metav1.OwnerReference{
				{APIVersion: "apps/v1", Kind: "Deployment", Name: "d", UID: "1", Controller: ptr(true)},
				{APIVersion: "apps/v1beta1", Kind: "Deployment", Name: "e", UID: "2"},
				{APIVersion: "v1", Kind: "Node", Name: "n", UID: "3"},
				{APIVersion: "other/v1", Kind: "Deployment", Name: "x", UID: "4"},
			},
		},
		Spec: api.Spec{
			Name: "a", Ref: ptr("r"), Names: []string{"n1", "n2"}, Pair: [2]string{"p1", "p2"}, Paused: true, Suspend: ptr(true),
			Target: &api.Target{Name: "tn", Ref: ptr("tr"), Labels: map[string]string{"app": "a"}},
			Targets: []api.Target{
				{Name: "one", Ref: ptr("r1"), Labels: map[string]string{"app": "l1"}, Rules: []api.Rule{
					{Paths: []string{"lost"}}, {Ref: ptr("q1"), Paths: []string{"x", "y"}}, {Ref: ptr("q2")},
				}},
				{Name: "two", Rules: []api.Rule{{Ref: ptr("q3"), Paths: []string{"z"}}}},
			},
			Matrix:      [][]string{nil, {"m1"}, {"m2", "m3"}},
			Cube:        [][][]*string{nil, {nil, {nil, ptr("c1")}}, {{ptr("c2")}}},
			Lists:       map[string][]string{"a": {"l1", "l2"}, "b": {"l3"}},
			Structs:     map[string]api.Target{"a": {Name: "sa"}, "b": {Name: "sb"}},
			PointerMap:  map[string]*api.Target{"a": {Ref: ptr("pa")}, "b": {Ref: ptr("pb")}, "c": nil, "d": {}},
			OptionalMap: &map[string]string{"a": "oa", "b": "ob"},
			Maps:        []map[string]string{nil, {"b": "lost"}, {"a": "ma"}},
			MapOfMaps:   map[string]map[string]string{"a": {"b": "ab"}},
			Numbers:     map[int32]string{-1: "minus", 1: "plus"},
		},
	}
}

// half has pointers and lists that lead no further than one step, entries that are there and empty, and false in the place
// of true.
func half() *api.Form {
	return &api.Form{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "half", Labels: map[string]string{"app": ""}},
		Spec: api.Spec{
			Suspend: ptr(false), Target: &api.Target{Labels: map[string]string{"app": "other"}}, Targets: []api.Target{{}},
			Matrix: [][]string{}, Lists: map[string][]string{"a": nil}, PointerMap: map[string]*api.Target{"a": nil},
			OptionalMap: &map[string]string{}, MapOfMaps: map[string]map[string]string{"a": nil},
		},
	}
}

// bare has nothing.
func bare() *api.Form {
	return &api.Form{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "bare"}}
}

func TestKeys(t *testing.T) {
	none := []string{}
	empty := []string{""}
	for name, tt := range map[string]struct {
		keys             func(*testing.T, *api.Form) []string
		full, half, bare []string
	}{
		"ByEntry":           {keysOf(v1alpha1.FormByEntry()), []string{"a"}, empty, none},
		"ByKeys":            {keysOf(v1alpha1.FormByKeys()), []string{"app", "tier"}, []string{"app"}, none},
		"ByValues":          {keysOf(v1alpha1.FormByValues()), []string{"a", "t"}, empty, none},
		"ByMatrix":          {keysOf(v1alpha1.FormByMatrix()), []string{"m1", "m2", "m3"}, none, none},
		"ByCube":            {keysOf(v1alpha1.FormByCube()), []string{"c1", "c2"}, none, none},
		"ByEntryList":       {keysOf(v1alpha1.FormByEntryList()), []string{"l1", "l2"}, none, none},
		"ByListsOfMap":      {keysOf(v1alpha1.FormByListsOfMap()), []string{"l1", "l2", "l3"}, none, none},
		"ByEntryStruct":     {keysOf(v1alpha1.FormByEntryStruct()), []string{"sa"}, none, none},
		"ByEntryPointer":    {keysOf(v1alpha1.FormByEntryPointer()), []string{"pa"}, none, none},
		"ByPointerMap":      {keysOf(v1alpha1.FormByPointerMap()), []string{"pa", "pb"}, none, none},
		"ByStructMap":       {keysOf(v1alpha1.FormByStructMap()), []string{"sa", "sb"}, none, none},
		"ByOptionalMap":     {keysOf(v1alpha1.FormByOptionalMap()), []string{"oa"}, none, none},
		"ByOptionalMapKeys": {keysOf(v1alpha1.FormByOptionalMapKeys()), []string{"a", "b"}, none, none},
		"ByListOfMaps":      {keysOf(v1alpha1.FormByListOfMaps()), []string{"ma"}, none, none},
		"ByMapOfMaps":       {keysOf(v1alpha1.FormByMapOfMaps()), []string{"ab"}, none, none},
		"ByNumber":          {keysOf(v1alpha1.FormByNumber()), []string{"minus"}, none, none},
		"ByTargetEntry":     {keysOf(v1alpha1.FormByTargetEntry()), []string{"l1"}, none, none},

		"ByTwo":     {keysOf(v1alpha1.FormByTwo()), []string{"{a a}"}, []string{"{ }"}, none},
		"ByTwoRefs": {keysOf(v1alpha1.FormByTwoRefs()), []string{"{r tr}"}, none, none},
		// One element at a time: not every name with every ref.
		"BySameElement": {keysOf(v1alpha1.FormBySameElement()), []string{"{one r1}"}, none, none},
		"BySameRule":    {keysOf(v1alpha1.FormBySameRule()), []string{"{q1 one x}", "{q1 one y}", "{q3 two z}"}, none, none},
		// Lists that have nothing to do with each other: every combination.
		"ByProduct":    {keysOf(v1alpha1.FormByProduct()), []string{"{n1 p1}", "{n1 p2}", "{n2 p1}", "{n2 p2}"}, none, none},
		"ByLabel":      {keysOf(v1alpha1.FormByLabel()), []string{"{app a}", "{tier t}"}, []string{"{app }"}, none},
		"ByManyFields": {keysOf(v1alpha1.FormByManyFields()), []string{"{a a tn}"}, []string{"{  }"}, none},

		"ByController":  {keysOf(v1alpha1.FormByController()), []string{"1"}, none, none},
		"ByDeployment":  {keysOf(v1alpha1.FormByDeployment()), []string{"d", "e"}, none, none},
		"ByNodeOwner":   {keysOf(v1alpha1.FormByNodeOwner()), []string{"n"}, none, none},
		"ByForeign":     {keysOf(v1alpha1.FormByForeign()), []string{"k1", "k2"}, []string{"k1", "k2"}, []string{"k1", "k2"}},
		"ByValue":       {keysOf(v1alpha1.FormByValue()), []string{"k1", "k2"}, []string{"k1", "k2"}, []string{"k1", "k2"}},
		"ByForeignWhen": {keysOf(v1alpha1.FormByForeignWhen()), none, []string{"k1", "k2"}, []string{"k1", "k2"}},

		"WhenSuspended":              {keysOf(v1alpha1.FormWhenSuspended()), []string{"a"}, none, none},
		"WhenNotSuspended":           {keysOf(v1alpha1.FormWhenNotSuspended()), none, empty, empty},
		"WhenExplicitlyNotSuspended": {keysOf(v1alpha1.FormWhenExplicitlyNotSuspended()), none, empty, none},
		"WhenPaused":                 {keysOf(v1alpha1.FormWhenPaused()), []string{"a"}, none, none},
		"WhenNotPaused":              {keysOf(v1alpha1.FormWhenNotPaused()), none, empty, empty},
		"WhenAlive":                  {keysOf(v1alpha1.FormWhenAlive()), none, empty, empty},
		"WhenDeleted":                {keysOf(v1alpha1.FormWhenDeleted()), []string{"a"}, none, none},
		"WhenNoMatrix":               {keysOf(v1alpha1.FormWhenNoMatrix()), none, none, empty},
		"WhenApp":                    {keysOf(v1alpha1.FormWhenApp()), []string{"a"}, none, none},
		"WhenOtherApp":               {keysOf(v1alpha1.FormWhenOtherApp()), none, empty, empty},
		"WhenSomeApp":                {keysOf(v1alpha1.FormWhenSomeApp()), []string{"a"}, empty, none},
		"WhenNoApp":                  {keysOf(v1alpha1.FormWhenNoApp()), none, none, empty},
		"WhenApps":                   {keysOf(v1alpha1.FormWhenApps()), []string{"a"}, none, none},
		"WhenTargetApp":              {keysOf(v1alpha1.FormWhenTargetApp()), []string{"a"}, none, none},
		"WhenNotTargetApp":           {keysOf(v1alpha1.FormWhenNotTargetApp()), none, empty, empty},
		"WhenNamed":                  {keysOf(v1alpha1.FormWhenNamed()), []string{"one", "two"}, none, none},

		"InNamespace":           {keysOf(v1alpha1.FormInNamespace1()), []string{"{shop a}"}, []string{"{shop }"}, []string{"{shop }"}},
		"InNamespaceList":       {keysOf(v1alpha1.FormInNamespaceList()), []string{"{shop n1}", "{shop n2}"}, none, none},
		"InNamespaceTwo":        {keysOf(v1alpha1.FormInNamespaceTwo()), []string{"{shop {a a}}"}, []string{"{shop { }}"}, none},
		"InNamespaceForeign":    {keysOf(v1alpha1.FormInNamespaceForeign()), []string{"{shop k1}", "{shop k2}"}, []string{"{shop k1}", "{shop k2}"}, []string{"{shop k1}", "{shop k2}"}},
		"InNamespaceController": {keysOf(v1alpha1.FormInNamespaceController()), none, none, none},
	} {
		for _, x := range []struct {
			obj  *api.Form
			want []string
		}{{full(), tt.full}, {half(), tt.half}, {bare(), tt.bare}} {
			if got := tt.keys(t, x.obj); !slices.Equal(got, x.want) {
				t.Errorf("%s: the keys of %s are %q, want %q", name, x.obj.Name, got, x.want)
			}
		}
	}
}

// TestNamespaces looks objects up that differ in nothing but their namespaces.
func TestNamespaces(t *testing.T) {
	var objs []*api.Form
	for _, namespace := range []string{"a", "b"} {
		obj := full()
		obj.Namespace = namespace
		obj.Spec.Suspend = nil
		objs = append(objs, obj)
	}
	lister := v1alpha1.NewFormLister(fill(t, objs...))
	in := func(namespace string) v1alpha1.FormNamespaceLister { return lister.Forms(namespace) }
	for what, tt := range map[string]struct {
		got  []*api.Form
		want []*api.Form
	}{
		"ByTwo":                 {lister.ListByTwo(v1alpha1.FormByTwoKey{Name: "a", App: "a"}), objs},
		"ByTwo in b":            {in("b").ListByTwo(v1alpha1.FormByTwoKey{Name: "a", App: "a"}), objs[1:]},
		"ByTwo in c":            {in("c").ListByTwo(v1alpha1.FormByTwoKey{Name: "a", App: "a"}), nil},
		"ByTwo in all":          {in("").ListByTwo(v1alpha1.FormByTwoKey{Name: "a", App: "a"}), objs},
		"ByController in a":     {slices.Collect(in("a").ByController(types.UID("1"))), objs[:1]},
		"InNamespace in a":      {in("a").ListInNamespace1("a"), objs[:1]},
		"InNamespace in b":      {slices.Collect(in("b").InNamespace1("a")), objs[1:]},
		"InNamespace in c":      {in("c").ListInNamespace1("a"), nil},
		"InNamespaceTwo in b":   {in("b").ListInNamespaceTwo(v1alpha1.FormInNamespaceTwoKey{Name: "a", App: "a"}), objs[1:]},
		"InNamespaceOwner in a": {in("a").ListInNamespaceController("1"), objs[:1]},
	} {
		slices.SortFunc(tt.got, func(a, b *api.Form) int { return strings.Compare(a.Namespace, b.Namespace) })
		if !slices.Equal(tt.got, tt.want) {
			t.Errorf("%s: %d objects, want %d", what, len(tt.got), len(tt.want))
		}
	}
}
