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

var inMetadata = map[string]protowire.Number{
	"metadata.generateName": 2, "metadata.selfLink": 4, "metadata.generation": 7, "metadata.creationTimestamp": 8,
	"metadata.deletionTimestamp": 9, "metadata.deletionGracePeriodSeconds": 10, "metadata.annotations": annotationsNumber,
	"metadata.ownerReferences": 13, "metadata.finalizers": 14, "metadata.managedFields": 17,
}

func (s Schema) numbers(path string) (numbers []protowire.Number, ok bool) {
	if number, ok := inMetadata[path]; ok {
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

func at(numbers ...int) Field { return Field{Numbers: numbers} }

// builtIn has the schemas of [BuiltIn]. Numbers are the same in all versions of a kind.
var builtIn = map[schema.GroupKind]Schema{
	{Kind: "Pod"}: {
		"spec": at(2), "status": at(3), "spec.nodeName": at(2, 10), "spec.restartPolicy": at(2, 3), "spec.schedulerName": at(2, 19),
		"spec.serviceAccountName": at(2, 8), "spec.hostNetwork": {Numbers: []int{2, 11}, Bool: true},
		"status.phase": at(3, 1), "status.podIP": at(3, 6), "status.nominatedNodeName": at(3, 11),
	},
	{Kind: "Node"}:      {"spec": at(2), "status": at(3), "spec.unschedulable": {Numbers: []int{2, 4}, Bool: true}},
	{Kind: "Namespace"}: {"spec": at(2), "status": at(3), "status.phase": at(3, 1)},
	{Kind: "Secret"}:    {"data": at(2), "type": at(3)},
	{Kind: "ConfigMap"}: {"data": at(2), "binaryData": at(3)},
	{Kind: "Service"}:   {"spec": at(2), "status": at(3), "spec.clusterIP": at(2, 3), "spec.type": at(2, 4)},
	{Kind: "Event"}: {
		"involvedObject.kind": at(2, 1), "involvedObject.namespace": at(2, 2), "involvedObject.name": at(2, 3),
		"involvedObject.uid": at(2, 4), "involvedObject.apiVersion": at(2, 5), "involvedObject.resourceVersion": at(2, 6),
		"involvedObject.fieldPath": at(2, 7), "reason": at(3), "type": at(9), "reportingComponent": at(14),
	},
	{Group: "apps", Kind: "ReplicaSet"}: {"spec": at(2), "status": at(3), "status.replicas": at(3, 1)},
	{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}: {
		"spec": at(2), "status": at(3), "spec.signerName": at(2, 7),
	},
}
