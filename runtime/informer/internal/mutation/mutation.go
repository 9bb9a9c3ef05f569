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

// Mutation is what informer.Mutation is, which has the same fields and describes them. None of them
// is a value of the object: it may be a Secret, and a Mutation ends up in logs.
type Mutation struct {
	Informer        string
	Key             object.Key
	UID             types.UID
	ResourceVersion string
	Path            string
	Handler         string
}

// Error says in one line what happened and what to do.
func (m Mutation) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: cached object %s at resourceVersion %q was modified", m.Informer, m.Key, m.ResourceVersion)
	if m.Handler != "" {
		fmt.Fprintf(&b, " during a callback of handler %q", m.Handler)
	}
	fmt.Fprintf(&b, ": %s has another value; modify a copy made by DeepCopyObject", m.Path)
	return b.String()
}

// FromEnvironment reports whether KUBE_CACHE_MUTATION_DETECTOR asks for a detector, with any value
// that strconv.ParseBool takes for true.
func FromEnvironment() bool {
	on, _ := strconv.ParseBool(os.Getenv("KUBE_CACHE_MUTATION_DETECTOR"))
	return on
}

// Panic is a report function that ends the process.
func Panic(m Mutation) { panic(m) }
