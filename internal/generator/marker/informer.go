// SPDX-License-Identifier: Apache-2.0

package marker

// Markers of informer-gen.

// Generate selects a type or excludes it, whatever other markers say.
type Generate struct {
	At
	Value Value `arg:"" required:"true" allowed:"true false" doc:"true selects the type, false leaves it out"`
}

// Plural is the plural of a kind in Go and, in lower case, in URLs, unless ResourceName or
// kubebuilder.Resource sets the latter.
type Plural struct {
	At
	Name Value `arg:"" required:"true" doc:"an exported Go identifier"`
}

// Index declares a typed index.
type Index struct {
	At
	Name       Value   `arg:"name" required:"true" doc:"the name of the index and of the lister's method, for example ByNode"`
	Fields     []Value `arg:"field" doc:"the path to the key by JSON names, for example .spec.containers[*].image; several paths make a composite key: .spec.nodeName;.status.phase"`
	Func       Value   `arg:"func" instead:"true" doc:"the name of a function func(*Type) []Key, after its import path and a dot if it isn't in the type's package"`
	Owner      Value   `arg:"owner" instead:"true" doc:"controller: the key is the UID of the object's controller; Kind.group, for example Deployment.apps: the keys are the names of the owners of that kind"`
	When       Value   `arg:"when" doc:"conditions; an object that fails one of them isn't in the index, for example .spec.suspend==false && .status.phase!=Done"`
	Namespaced Value   `arg:"namespaced" allowed:"true false" doc:"true: keys are looked up within a namespace, so only namespace listers have the methods; false if omitted"`
	Projection Value   `arg:"projection" doc:"the name of a projection of the type: the index belongs to the projection's informers and uses its fields only"`
}

// Project declares a projection: a type with some fields of the marked type, which gets the same
// generated code as a kind.
type Project struct {
	At
	Name   Value   `arg:"name" required:"true" doc:"the name of the generated type, for example PodPlacement"`
	Fields []Value `arg:"fields" required:"true" doc:"the paths to its fields, by JSON names, for example .spec.nodeName;.spec.containers[*].image; name, namespace, uid and resourceVersion are always included"`
	Plural Value   `arg:"plural" doc:"its plural in Go, an exported identifier, where the rules give the wrong one"`
}
