// SPDX-License-Identifier: Apache-2.0

package lister_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/informer-gen/informer-gen/runtime/lister"
)

func TestNamespaceIsRemembered(t *testing.T) {
	all := lister.New(newStore(t, [2]string{"x", "a"}), resource)
	x := all.Namespace("x")
	if all.Namespace("x") != x || all.Namespace("y").Namespace("x") != x || x.Namespace("x") != x {
		t.Error("the lister of a namespace is another one when it is asked for again")
	}
	if all.Namespace("") != all || x.Namespace("").InNamespace() != "" || all.Namespace("y") == x {
		t.Error("the lister of all namespaces, or of another one, was taken for that of x")
	}
	if lister.New(newStore(t), resource).Namespace("x") == x {
		t.Error("two resources have the same lister of a namespace")
	}
	if _, err := x.Namespace("").Namespace("x").Get("a"); err != nil {
		t.Error(err)
	}
}

// TestManyNamespacesAreRemembered: hardly one replaces another one before there are very many.
func TestManyNamespacesAreRemembered(t *testing.T) {
	all := lister.New(newStore(t), resource)
	var names []string
	var listers []*lister.Resource[*thing]
	for i := range 1500 {
		names = append(names, fmt.Sprintf("team-%04d", i))
		listers = append(listers, all.Namespace(names[i]))
	}
	var others int
	for i, name := range names {
		one := all.Namespace(name)
		if one.InNamespace() != name {
			t.Fatalf("the lister of %q is that of %q", name, one.InNamespace())
		}
		if one != listers[i] {
			others++
		}
	}
	if others > len(names)/50 {
		t.Errorf("%d of %d listers are others than before", others, len(names))
	}
}

// TestAnyNumberOfNamespacesTakesBoundedMemory, whatever they are called.
func TestAnyNumberOfNamespacesTakesBoundedMemory(t *testing.T) {
	const n, most = 100_000, 1 << 20
	all := lister.New(newStore(t), resource)
	before := heap()
	for i := range n {
		// A short name is a piece of a large text; a long one can't be that of a namespace.
		text := fmt.Sprintf("ns-%06d%s", i, strings.Repeat("x", 1000))
		for _, name := range []string{text[:9], text} {
			if got := all.Namespace(name).InNamespace(); got != name {
				t.Fatalf("the lister of %q is that of %q", name, got)
			}
		}
	}
	if grown := heap() - before; grown > most {
		t.Errorf("%d namespaces take %d bytes, want %d at most", n, grown, most)
	}
	// A namespace that is asked for again and again is remembered even now.
	asked := func() { all.Namespace("asked") }
	for range 1000 {
		asked()
	}
	if allocs := testing.AllocsPerRun(100, asked); allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
	runtime.KeepAlive(all)
}

func heap() int {
	runtime.GC()
	runtime.GC() // what the first one has only moved out of a pool
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

func TestNamespacesConcurrently(t *testing.T) {
	all := lister.New(newStore(t, [2]string{"ns-7", "a"}), resource)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 6000 {
				name := fmt.Sprint("ns-", (i*(g+1))%5000)
				if got := all.Namespace(name).InNamespace(); got != name {
					t.Errorf("the lister of %q is that of %q", name, got)
					return
				}
				if _, err := all.Namespace("ns-7").Get("a"); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestNamespacesOfTheZeroResource(t *testing.T) {
	var zero lister.Resource[*thing]
	x := zero.Namespace("x")
	if x.InNamespace() != "x" || x.Namespace("y").InNamespace() != "y" || zero.Namespace("") != &zero {
		t.Error("not the namespace that was asked for")
	}
	if _, err := x.Get("a"); !apierrors.IsNotFound(err) {
		t.Errorf("Get: %v", err)
	}
}
