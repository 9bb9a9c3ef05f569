// SPDX-License-Identifier: Apache-2.0

package gotype_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/gotype"
)

type inner struct {
	Text string
	flag bool
}

type outer struct {
	Meta    metav1.ObjectMeta
	Since   metav1.Time
	Inner   inner
	hidden  inner
	Pairs   [2]*inner
	Numbers [1000]int64
	_       [0]func()
}

var _ = outer{hidden: inner{flag: false}}

// TestLeaves checks that structs are split into fields, and arrays only if elements have
// references.
func TestLeaves(t *testing.T) {
	var got []string
	for _, l := range gotype.Of(reflect.TypeFor[outer]()).Leaves() {
		if l.Offset >= reflect.TypeFor[metav1.ObjectMeta]().Size() {
			got = append(got, fmt.Sprintf("%v hidden %v", l.Type.Go, l.Hidden))
		}
	}
	want := []string{
		"time.Time hidden false", "string hidden false", "bool hidden true", "string hidden true", "bool hidden true",
		"*gotype_test.inner hidden false", "*gotype_test.inner hidden false", "[1000]int64 hidden false", "[0]func() hidden true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("Leaves:\ngot  %q\nwant %q", got, want)
	}
	var names []uintptr
	for _, l := range gotype.Of(reflect.TypeFor[corev1.Pod]()).Leaves() {
		if l.Name {
			names = append(names, l.Offset)
		}
	}
	if len(names) != 2 {
		t.Errorf("a Pod has names at offsets %v, want two", names)
	}
}

// TestQuantityIsKnown checks that the number is data, and the text written by methods a cache.
func TestQuantityIsKnown(t *testing.T) {
	data, caches := 0, 0
	of := gotype.Of(reflect.TypeFor[resource.Quantity]())
	for _, l := range of.Leaves() {
		if l.Data {
			data++
		}
		if l.Cache {
			caches++
		}
	}
	if data == 0 || caches != 1 || of.Hides() || of.Known != gotype.Quantity {
		t.Errorf("a Quantity has %d data leaves and %d caches, Hides() = %v, Known = %d", data, caches, of.Hides(), of.Known)
	}
}

func TestRefersAndHides(t *testing.T) {
	for _, tc := range []struct {
		of            reflect.Type
		refers, hides bool
	}{
		{reflect.TypeFor[int](), false, false},
		{reflect.TypeFor[string](), true, false},
		{reflect.TypeFor[[3]int](), false, false},
		{reflect.TypeFor[struct{}](), false, false},
		{reflect.TypeFor[struct{ A, B int }](), false, false},
		{reflect.TypeFor[metav1.Time](), true, false},
		{reflect.TypeFor[inner](), true, true},
		{reflect.TypeFor[corev1.Pod](), true, false},
		{reflect.TypeFor[outer](), true, true},
	} {
		if of := gotype.Of(tc.of); of.Refers() != tc.refers || of.Hides() != tc.hides {
			t.Errorf("%v: Refers() = %v, Hides() = %v, want %v, %v", tc.of, of.Refers(), of.Hides(), tc.refers, tc.hides)
		}
	}
}
