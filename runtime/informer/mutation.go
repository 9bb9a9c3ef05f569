// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/mutation"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// Mutation is a change of an object that is, or was, in a cache, by code that should only have read
// it. The function given to [WithMutationDetector] is called with it. It names the field, and has
// no value of the object, which may be a Secret.
type Mutation struct {
	// Informer is the name of the informer that the object came from.
	Informer string
	// Key, UID and ResourceVersion identify the object, as it was stored.
	Key             object.Key
	UID             types.UID
	ResourceVersion string
	// Path is the first field that differs, such as .spec.containers[2].image or
	// .metadata.labels["app"].
	Path string
	// Handler is the handler during whose callback the object was changed; "" if it is unknown, as
	// for changes by other goroutines. If several goroutines use the object at that time, another
	// one may have changed it.
	Handler string
}

// Error returns one line: what happened and what to do.
func (m Mutation) Error() string { return mutation.Mutation(m).Error() }
