// SPDX-License-Identifier: Apache-2.0

package protobuf

import (
	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Schema describes the fields of a kind to read or drop, by paths such as "spec.nodeName". Fields
// of metadata are known without it.
type Schema map[string]Field

// Field is the position of a field in messages.
type Field struct {
	// Numbers are the field numbers of the path: {2, 10} for the field 10 of the field 2.
	Numbers []int
	// Bool must be set for a boolean field. Strings and whole numbers are known by their encoding.
	Bool bool
}

var metadataNumbers = map[string]protowire.Number{
	"metadata.generateName": 2, "metadata.selfLink": 4, "metadata.generation": 7, "metadata.creationTimestamp": 8,
	"metadata.deletionTimestamp": 9, "metadata.deletionGracePeriodSeconds": 10, "metadata.annotations": annotationsNumber,
	"metadata.ownerReferences": 13, "metadata.finalizers": 14, "metadata.managedFields": 17,
}

func (s Schema) numbers(path string) (numbers []protowire.Number, ok bool) {
	if number, ok := metadataNumbers[path]; ok {
		return []protowire.Number{metadataNumber, number}, true
	}
	for _, number := range s[path].Numbers {
		numbers = append(numbers, protowire.Number(number))
	}
	return numbers, len(numbers) > 0
}

// BuiltIn returns a schema of a built-in kind: the fields API servers let clients select by, and
// large parts such as spec, status and data. It is never nil.
func BuiltIn(kind schema.GroupVersionKind) Schema {
	s := Schema{}
	for path, field := range builtIn[kind.GroupKind()] {
		s[path] = field
	}
	return s
}

func field(numbers ...int) Field { return Field{Numbers: numbers} }

// builtIn has the schemas of [BuiltIn]. Numbers are the same in all versions of a kind.
var builtIn = map[schema.GroupKind]Schema{
	{Kind: "Pod"}: {
		"spec": field(2), "status": field(3), "spec.nodeName": field(2, 10), "spec.restartPolicy": field(2, 3), "spec.schedulerName": field(2, 19),
		"spec.serviceAccountName": field(2, 8), "spec.hostNetwork": {Numbers: []int{2, 11}, Bool: true},
		"status.phase": field(3, 1), "status.podIP": field(3, 6), "status.nominatedNodeName": field(3, 11),
	},
	{Kind: "Node"}:      {"spec": field(2), "status": field(3), "spec.unschedulable": {Numbers: []int{2, 4}, Bool: true}},
	{Kind: "Namespace"}: {"spec": field(2), "status": field(3), "status.phase": field(3, 1)},
	{Kind: "Secret"}:    {"data": field(2), "type": field(3)},
	{Kind: "ConfigMap"}: {"data": field(2), "binaryData": field(3)},
	{Kind: "Service"}:   {"spec": field(2), "status": field(3), "spec.clusterIP": field(2, 3), "spec.type": field(2, 4)},
	{Kind: "Event"}: {
		"involvedObject.kind": field(2, 1), "involvedObject.namespace": field(2, 2), "involvedObject.name": field(2, 3),
		"involvedObject.uid": field(2, 4), "involvedObject.apiVersion": field(2, 5), "involvedObject.resourceVersion": field(2, 6),
		"involvedObject.fieldPath": field(2, 7), "reason": field(3), "type": field(9), "reportingComponent": field(14),
	},
	{Group: "apps", Kind: "ReplicaSet"}: {"spec": field(2), "status": field(3), "status.replicas": field(3, 1)},
	{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}: {
		"spec": field(2), "status": field(3), "spec.signerName": field(2, 7),
	},
}
