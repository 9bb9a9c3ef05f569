// SPDX-License-Identifier: Apache-2.0

// Package v1 has one kind with fields of every shape that a field path leads through. What is generated for it is in
// ../generated; FuzzFieldPaths compares it with the JSON of the objects. No field on the way to a key leaves its zero value
// out, so that the JSON says of everything whether it is there.
//
// +groupName=shapes.example.com
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Shape is the kind.
//
// +genclient
// +informer:index:name=ByString,field=.spec.string
// +informer:index:name=ByNamed,field=.spec.named
// +informer:index:name=ByBool,field=.spec.bool
// +informer:index:name=ByInt,field=.spec.int
// +informer:index:name=BySmall,field=.spec.small
// +informer:index:name=ByUnsigned,field=.spec.unsigned
// +informer:index:name=ByUID,field=.spec.uid
// +informer:index:name=ByPointer,field=.spec.pointer
// +informer:index:name=ByNumberPointer,field=.spec.numberPointer
// +informer:index:name=BySlice,field=.spec.slice[*]
// +informer:index:name=BySlicePointers,field=.spec.slicePointers[*]
// +informer:index:name=ByPointerSlice,field=.spec.pointerSlice[*]
// +informer:index:name=ByArray,field=.spec.array[*]
// +informer:index:name=ByArrayPointers,field=.spec.arrayPointers[*]
// +informer:index:name=ByNamedSlice,field=.spec.namedSlice[*]
// +informer:index:name=ByStruct,field=.spec.node.name
// +informer:index:name=ByPointerStruct,field=.spec.next.name
// +informer:index:name=ByPointers,field=.spec.next.next.ref
// +informer:index:name=ByStructs,field=.spec.nodes[*].name
// +informer:index:name=ByStructPointers,field=.spec.nodePointers[*].ref
// +informer:index:name=ByPointerStructs,field=.spec.pointerNodes[*].name
// +informer:index:name=ByNested,field=.spec.nodes[*].nodes[*].names[*]
// +informer:index:name=ByNestedPointers,field=.spec.nodePointers[*].next.nodePointers[*].refs[*]
// +informer:index:name=ByDeep,field=.spec.nodes[*].nodes[*].nodes[*].nodes[*].name
// +informer:index:name=ByInline,field=.spec.inline
// +informer:index:name=ByInlinePointer,field=.spec.inlinePointer
// +informer:index:name=ByHidden,field=.spec.hidden
// +informer:index:name=ByBelowName,field=.spec.below.inline
// +informer:index:name=ByPrivate,field=.spec.private
// +informer:index:name=ByGoName,field=.spec.GoName
// +informer:index:name=ByStatus,field=.status.phase
// +informer:index:name=ByOwner,field=.metadata.ownerReferences[*].uid
// +informer:index:name=ByController,field=.metadata.ownerReferences[*].controller
// +informer:index:name=ByGracePeriod,field=.metadata.deletionGracePeriodSeconds
type Shape struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec   Spec    `json:"spec"`
	Status *Status `json:"status"`
}

// DeepCopyObject returns x, which no test needs a copy of.
func (x *Shape) DeepCopyObject() runtime.Object { return x }

// Named is a string by another name.
type Named string

// Count is a number by another name.
type Count int32

// Names is a list by another name.
type Names []Named

// Spec has keys of all types, and ways of all shapes.
type Spec struct {
	String   string    `json:"string"`
	Named    Named     `json:"named"`
	Bool     bool      `json:"bool"`
	Int      int64     `json:"int"`
	Small    int8      `json:"small"`
	Unsigned uint64    `json:"unsigned"`
	UID      types.UID `json:"uid"`

	Pointer       *string    `json:"pointer"`
	NumberPointer *Count     `json:"numberPointer"`
	Slice         []string   `json:"slice"`
	SlicePointers []*Named   `json:"slicePointers"`
	PointerSlice  *[]string  `json:"pointerSlice"`
	Array         [3]string  `json:"array"`
	ArrayPointers [2]*string `json:"arrayPointers"`
	NamedSlice    Names      `json:"namedSlice"`

	Node         Node    `json:"node"`
	Next         *Node   `json:"next"`
	Nodes        []Node  `json:"nodes"`
	NodePointers []*Node `json:"nodePointers"`
	PointerNodes *[]Node `json:"pointerNodes"`

	Inline         `json:",inline"`
	*InlinePointer `json:",inline"`
	Below          `json:"below"`
	private        `json:",inline"`

	GoName string
}

// Node is a tree.
type Node struct {
	Name         string    `json:"name"`
	Ref          *string   `json:"ref"`
	Names        []string  `json:"names"`
	Refs         []*string `json:"refs"`
	Next         *Node     `json:"next"`
	Nodes        []Node    `json:"nodes"`
	NodePointers []*Node   `json:"nodePointers"`
}

// Inline is embedded.
type Inline struct {
	Inline string `json:"inline"`
	Deeper `json:",inline"`
}

// InlinePointer is embedded as a pointer. Its Hidden hides that of Deeper, which lies one level below.
type InlinePointer struct {
	InlinePointer string `json:"inlinePointer"`
	Hidden        Count  `json:"hidden"`
}

// Deeper is embedded in what is embedded.
type Deeper struct {
	Hidden string `json:"hidden"`
}

// Below is embedded below a name.
type Below struct {
	Inline string `json:"inline"`
}

type private struct {
	Private string `json:"private"`
}

// Status may be absent.
type Status struct {
	Phase Named `json:"phase"`
}
