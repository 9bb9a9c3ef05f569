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

// Mutation is informer.Mutation, which documents the fields. None of them has a value of the
// object: that may be a Secret, and a Mutation ends up in logs.
type Mutation struct {
	Informer        string
	Key             object.Key
	UID             types.UID
	ResourceVersion string
	Path            string
	Handler         string
}

// Error returns one line: what happened and what to do.
func (m Mutation) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: cached object %s at resourceVersion %q was modified", m.Informer, m.Key, m.ResourceVersion)
	if m.Handler != "" {
		fmt.Fprintf(&b, " during a callback of handler %q", m.Handler)
	}
	fmt.Fprintf(&b, ": %s has another value; modify a copy made by DeepCopyObject", m.Path)
	return b.String()
}

// FromEnvironment reports whether the environment variable KUBE_CACHE_MUTATION_DETECTOR is true for
// strconv.ParseBool.
func FromEnvironment() bool {
	on, _ := strconv.ParseBool(os.Getenv("KUBE_CACHE_MUTATION_DETECTOR"))
	return on
}

// Panic is a report function that ends the process.
func Panic(m Mutation) { panic(m) }
