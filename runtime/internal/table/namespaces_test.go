// SPDX-License-Identifier: Apache-2.0

package table

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/informer-gen/informer-gen/runtime/object"
)

func TestNamespaceResourceVersions(t *testing.T) {
	tab, err := New()
	if err != nil {
		t.Fatal(err)
	}
	expect := func(v *Version, want string) {
		t.Helper()
		got := []string{v.ResourceVersion()}
		for _, namespace := range []string{"a", "b", "c", ""} {
			got = append(got, v.NamespaceResourceVersion(namespace))
		}
		if strings.Join(got, ",") != want {
			t.Errorf("resourceVersions of the table, a, b, c and \"\" = %q, want %s", got, want)
		}
	}
	expect(nil, ",,,,")
	expect(tab.Version(), ",,,,")
	x := tab.Begin()
	x.SetResourceVersion("7")
	one := x.Publish()
	expect(one, "7,7,7,7,7")

	x = tab.Begin()
	x.SetNamespaceResourceVersion("a", "")
	x.SetNamespaceResourceVersion("b", "")
	several := x.Publish()
	expect(several, ",,,,")
	x = tab.Begin()
	x.SetNamespaceResourceVersion("b", "99")
	half := x.Publish()
	expect(half, ",,99,,")
	x = tab.Begin()
	x.SetNamespaceResourceVersion("a", "100")
	x.SetNamespaceResourceVersion("a", "101")
	x.SetResourceVersion("3")
	expect(x.Publish(), "99,101,99,,99")
	expect(several, ",,,,")
	expect(half, ",,99,,")
	expect(one, "7,7,7,7,7")
	x = tab.Begin()
	x.SetNamespaceResourceVersion("a", "102")
	x.Discard()
	x.SetNamespaceResourceVersion("a", "103")
	expect(tab.Version(), "99,101,99,,99")

	x = tab.Begin()
	x.DropNamespaceResourceVersion("b")
	x.DropNamespaceResourceVersion("c")
	dropped := x.Publish()
	expect(dropped, "101,101,,,101")
	x = tab.Begin()
	x.DropNamespaceResourceVersion("a")
	x.Discard()
	x.DropNamespaceResourceVersion("a")
	expect(tab.Version(), "101,101,,,101")
	x = tab.Begin()
	x.DropNamespaceResourceVersion("a")
	x.SetResourceVersion("3") // has no effect
	expect(x.Publish(), ",,,,")
	expect(dropped, "101,101,,,101")
	x = tab.Begin()
	x.SetNamespaceResourceVersion("c", "4")
	expect(x.Publish(), "4,,,4,4")
}

// TestSweepOfOneNamespace compares Sweep with a naive model, in namespaces of up to 10,000 objects.
func TestSweepOfOneNamespace(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, size := range []int{0, 1, 2, 100, 200, 1000, 10_000} {
		tab, err := New()
		if err != nil {
			t.Fatal(err)
		}
		x := tab.Begin()
		for i := range size {
			for _, namespace := range []string{"this", "that"} {
				x.Set(newThing(namespace, fmt.Sprint(i), "one"))
			}
		}
		x.Publish()
		before := tab.Version()

		x = tab.Begin()
		x.StartReplace()
		var want []string
		for i := range size {
			switch key := (object.Key{Namespace: "this", Name: fmt.Sprint(i)}); rng.IntN(3) {
			case 0:
				x.Set(newThing("this", key.Name, "two"))
			case 1:
				x.Keep(key)
			default:
				want = append(want, key.Name)
			}
		}
		var got []string
		x.Sweep("this", func(old object.Object) {
			if old.GetNamespace() != "this" {
				t.Errorf("Sweep deletes %s of another namespace", object.KeyOf(old))
			}
			got = append(got, old.GetName())
		})
		x.Publish()
		slices.Sort(want)
		slices.Sort(got)
		v := tab.Version()
		if !slices.Equal(got, want) || v.Namespace("that").Len() != size || v.Namespace("this").Len() != size-len(want) {
			t.Errorf("seed %d, %d objects: Sweep deletes %d, want %d; %d and %d are left", seed, size, len(got), len(want), v.Namespace("this").Len(), v.Namespace("that").Len())
		}
		if before.Len() != 2*size {
			t.Error("Sweep has changed the version before it")
		}
	}
}
