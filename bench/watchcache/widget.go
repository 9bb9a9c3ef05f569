// SPDX-License-Identifier: Apache-2.0

package main

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/server/watchcache"
)

// The names of the resource, and the paths of the group and of the widgets of all namespaces.
var (
	widgetResource = schema.GroupVersionResource{Group: "bench.informer-gen.dev", Version: "v1", Resource: "widgets"}
	widgetKind     = widgetResource.GroupVersion().WithKind("Widget")
)

const (
	groupPath  = "/apis/bench.informer-gen.dev/v1"
	widgetPath = groupPath + "/widgets"
	nodeField  = "spec.node" // selectable field of widgets
)

//go:embed crd.yaml
var crd []byte

//go:embed widget.json
var template string

func namespace(i int) string { return fmt.Sprintf("tenant-%d", i%10) }

// widgetJSON returns widget i as an API server writes it: without spaces, with sorted names. The
// version is also in its spec, so versions have different contents. Version 0 is an object not
// created yet.
func widgetJSON(i int, version uint64) []byte {
	rare, managed, identity := "", "", ""
	if i%100 == 0 {
		rare, managed = `,"rare":"yes"`, `,"f:rare":{}`
	}
	if version != 0 {
		identity = fmt.Sprintf(`,"resourceVersion":"%d","uid":"5f9d3a52-7c1e-4b7e-9d0a-%012d"`, version, i)
	}
	return []byte(strings.NewReplacer(
		"NAMESPACE", namespace(i), "NAME", fmt.Sprintf("widget-%06d", i), "NODE", fmt.Sprintf("node-%06d", i),
		`"SIZE"`, strconv.FormatUint(version, 10),
		`,"RARE"`, rare, `,"f:RARE":{}`, managed, `,"IDENTITY"`, identity,
		"ADDRESS", fmt.Sprintf("10.%d.%d.%d", i>>16&255, i>>8&255, i&255),
	).Replace(template))
}

func widgetObject(i int, version uint64) *watchcache.Object {
	o, err := watchcache.ParseJSON(widgetJSON(i, version), nodeField)
	if err != nil {
		panic(err) // the template is this package's
	}
	return o
}

func unstructuredWidget(i int, version uint64) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(widgetJSON(i, version)); err != nil {
		panic(err) // the template is this package's
	}
	return u
}
