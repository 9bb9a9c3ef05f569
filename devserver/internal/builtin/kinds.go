// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"context"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// kind is one built-in kind, with the peculiarities of its storage.
type kind struct {
	gv            schema.GroupVersion
	resource      string // the plural name
	singular      string
	shortNames    []string
	inCategoryAll bool // kubectl get all shows it
	clusterScoped bool

	object, list runtime.Object // prototypes

	// alias is another group and version for the same objects, or empty. aliasLabel checks its
	// selectable fields; nil: they are the kind's own.
	alias      schema.GroupVersion
	aliasLabel func(label, value string) (string, string, error)

	validName func(name string, prefix bool) []string // nil: a DNS subdomain

	// selectable returns the selectable fields besides those of metadata. Nil means none. The
	// fields of an empty object are the names that a selector may have.
	selectable func(runtime.Object) fields.Set

	// prepare completes an object to be written; old is nil for a create. Nil does nothing.
	prepare func(ctx context.Context, obj, old runtime.Object)

	// validate returns the errors in an object to be written, apart from its metadata; old is nil
	// for a create. Nil finds none.
	validate func(obj, old runtime.Object) field.ErrorList

	columns columns

	// resetOnStatusWrite undoes changes of metadata that a write of the status may not make. Nil
	// undoes nothing.
	resetOnStatusWrite func(obj, old metav1.Object)

	// gracePeriod returns for how many seconds a deleted object is kept for its node. Nil means
	// that it is gone at once.
	gracePeriod func(obj runtime.Object, asked *int64) int64

	countsGeneration bool   // metadata.generation counts changes of the content
	statusOnCreate   bool   // a create may set the status
	createOnUpdate   bool   // an update of a missing object creates it
	needsVersion     bool   // an update must name the resourceVersion
	orphansByDefault bool   // a deletion leaves dependents alone by default
	hasScale         bool   // has a subresource scale
	hasApproval      bool   // has a subresource approval
	ttl              uint64 // objects expire so long after the last write; 0 is never
}

// kinds returns the table of all kinds.
var kinds = sync.OnceValue(func() []*kind {
	return slices.Concat(coreKinds(), storageKinds(), workloadKinds(), networkKinds(), accessKinds())
})
