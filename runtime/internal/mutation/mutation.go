// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Mutation is a change of an object that is in a cache, or was, made by code that should only have read it. Such an object
// is shared by all readers and handlers; DeepCopyObject returns a copy that may be changed.
type Mutation struct {
	// Informer is the name of the informer that the object came from.
	Informer string
	// Key, UID and ResourceVersion say which object it is, as it was stored.
	Key             object.Key
	UID             types.UID
	ResourceVersion string
	// Path is the first field that differs, such as .spec.containers[2].image or .metadata.labels["app"].
	Path string
	// Before and After are the values at Path, at most 200 bytes each; "(absent)" for an element or a map's key that is
	// not there.
	Before, After string
	// Handler is the handler during whose callback the object was changed; "" if it is unknown, as for changes by other
	// goroutines. If several goroutines have the object at that time, it may have been another one.
	Handler string
}

// Error says in one line what happened and what to do.
func (m Mutation) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: cached object %s at resourceVersion %q was modified", m.Informer, m.Key, m.ResourceVersion)
	if m.Handler != "" {
		fmt.Fprintf(&b, " during a callback of handler %q", m.Handler)
	}
	fmt.Fprintf(&b, ": %s was %s and is now %s; modify a copy made by DeepCopyObject", m.Path, m.Before, m.After)
	return b.String()
}

// FromEnvironment says whether KUBE_CACHE_MUTATION_DETECTOR asks for a detector, with any value that strconv.ParseBool
// takes for true.
func FromEnvironment() bool {
	on, _ := strconv.ParseBool(os.Getenv("KUBE_CACHE_MUTATION_DETECTOR"))
	return on
}

// Panic is a report function that ends the process.
func Panic(m Mutation) { panic(m) }
