// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// clientgo knows how the fields of built-in kinds merge. The first call parses a schema of 430 KB,
// which takes longer than the rest of a server's start.
var clientgo = sync.OnceValue(func() managedfields.TypeConverter {
	return applyconfigurations.NewTypeConverter(schemeOf())
})

// Warm does the work of a process's first write in advance.
func Warm() { clientgo() }

// converter is clientgo, except for kinds not stored. client-go has no schemas of them, so
// these are deduced.
type converter struct{ deduced managedfields.TypeConverter }

var _ managedfields.TypeConverter = converter{}

var notStored = []string{"Scale", "Binding", "Eviction", "TokenRequest"} // and reviews

func newConverter() converter { return converter{managedfields.NewDeducedTypeConverter()} }

func (c converter) ObjectToTyped(obj runtime.Object, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	if kind := obj.GetObjectKind().GroupVersionKind().Kind; slices.Contains(notStored, kind) || strings.HasSuffix(kind, "Review") {
		return c.deduced.ObjectToTyped(obj, options...)
	}
	return clientgo().ObjectToTyped(obj, options...)
}

func (c converter) TypedToObject(value *typed.TypedValue) (runtime.Object, error) {
	return c.deduced.TypedToObject(value) // it doesn't depend on the kind
}
