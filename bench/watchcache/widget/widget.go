// SPDX-License-Identifier: Apache-2.0

// Package widget makes the custom resources of the benchmarks: widgets of 1.25 KB. The same
// arguments give the same object in each process.
package widget

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// The names of the resource.
var (
	Resource = schema.GroupVersionResource{Group: "bench.informer-gen.dev", Version: "v1", Resource: "widgets"}
	Kind     = Resource.GroupVersion().WithKind("Widget")
)

// The paths of the group, and of the widgets of all namespaces.
const (
	groupPath = "/apis/bench.informer-gen.dev/v1"
	Path      = groupPath + "/widgets"
)

const (
	// NodeField is the field by which widgets can be selected.
	NodeField = "spec.node"
	// RareLabel selects one of a hundred widgets.
	RareLabel = "rare=yes"
)

//go:embed crd.yaml
var crd []byte

// CRDs returns the definition of the resource.
func CRDs() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	return devserver.ParseCRDs("crd.yaml", crd)
}

// namespace returns that of widget i.
func namespace(i int) string { return fmt.Sprintf("tenant-%d", i%10) }

// CollectionPath returns the path of the widgets in the namespace of widget i.
func CollectionPath(i int) string { return groupPath + "/namespaces/" + namespace(i) + "/widgets" }

// Name returns that of widget i.
func Name(i int) string { return fmt.Sprintf("widget-%06d", i) }

// Node returns a value of NodeField. Widget i has number i, modulo the number of values.
func Node(i int) string { return fmt.Sprintf("node-%06d", i) }

//go:embed widget.json
var template string

// Set is widgets.
type Set struct {
	Len   int // how many there are
	Nodes int // how many values of NodeField they have
}

// Unlike is a set of so many widgets, each of which has its own value of NodeField.
func Unlike(n int) Set { return Set{n, n} }

// JSON returns widget i as an API server writes it: without spaces, with sorted names. The version
// is also in its spec, so that no two versions have the same content. Version 0 makes an object
// that has not been created yet.
func (s Set) JSON(i int, version uint64) []byte {
	rare, managed, identity := "", "", ""
	if i%100 == 0 {
		rare, managed = `,"rare":"yes"`, `,"f:rare":{}`
	}
	if version != 0 {
		identity = fmt.Sprintf(`,"resourceVersion":"%d","uid":"5f9d3a52-7c1e-4b7e-9d0a-%012d"`, version, i)
	}
	return []byte(strings.NewReplacer(
		"NAMESPACE", namespace(i), "NAME", Name(i), "NODE", Node(i%s.Nodes), `"SIZE"`, strconv.FormatUint(version, 10),
		`,"RARE"`, rare, `,"f:RARE":{}`, managed, `,"IDENTITY"`, identity,
		"ADDRESS", fmt.Sprintf("10.%d.%d.%d", i>>16&255, i>>8&255, i&255),
	).Replace(template))
}

// Object returns widget i as a watch cache of ours has it.
func (s Set) Object(i int, version uint64) *watchcache.Object {
	o, err := watchcache.ParseJSON(s.JSON(i, version), NodeField)
	if err != nil {
		panic(err) // the template is one of ours
	}
	return o
}

// Unstructured returns widget i as an API server has custom resources.
func (s Set) Unstructured(i int, version uint64) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(s.JSON(i, version)); err != nil {
		panic(err) // the template is one of ours
	}
	return u
}
