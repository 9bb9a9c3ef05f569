// SPDX-License-Identifier: Apache-2.0

package marker

// The generator's own markers.

// Generate selects a type or leaves it out, whatever other markers say.
type Generate struct {
	At
	Value Value `arg:"" required:"true" allowed:"true false" doc:"true selects the type, false leaves it out"`
}

// Plural is the plural of a kind in Go and, in lower case, in URLs, unless ResourceName or
// kubebuilder.Resource gives that.
type Plural struct {
	At
	Name Value `arg:"" required:"true" doc:"an exported Go identifier"`
}

// Index declares a typed index.
type Index struct {
	At
	Name       Value   `arg:"name" required:"true" doc:"the name of the index and of the lister's method, for example ByNode"`
	Fields     []Value `arg:"field" doc:"the path to the key by JSON names, for example .spec.containers[*].image; several of them make a key of several parts: .spec.nodeName;.status.phase"`
	Func       Value   `arg:"func" instead:"true" doc:"a function func(*Type) []Key: its name, behind its import path and a dot if it isn't in the package of the type"`
	Owner      Value   `arg:"owner" instead:"true" doc:"controller: the key is the UID of the object's controller; Kind.group, for example Deployment.apps: the keys are the names of the owners of that kind"`
	When       Value   `arg:"when" doc:"what must hold, else the object isn't in the index, for example .spec.suspend==false && .status.phase!=Done"`
	Namespaced Value   `arg:"namespaced" allowed:"true false" doc:"true: keys count within a namespace, so that only the lister of a namespace has the methods; false if left out"`
}
