// SPDX-License-Identifier: Apache-2.0

// Package v1 has one kind with fields of every shape that a field path leads through.
// TestRandomIndexes compares its indexes beside the random ones.
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
// +informer:index:name=ByBelowName,field=.spec.below.inline
// +informer:index:name=ByPrivate,field=.spec.private
// +informer:index:name=ByGoName,field=.spec.GoName
// +informer:index:name=ByStatus,field=.status.phase
// +informer:index:name=ByOwner,field=.metadata.ownerReferences[*].uid
// +informer:index:name=ByController,field=.metadata.ownerReferences[*].controller
// +informer:index:name=ByGracePeriod,field=.metadata.deletionGracePeriodSeconds
//
// +informer:index:name=ByMatrix,field=.spec.matrix[*][*]
// +informer:index:name=ByMatrixPointers,field=.spec.matrixPointers[*][*][*]
// +informer:index:name=ByTable,field=.spec.table[*][*]
// +informer:index:name=ByTableTag,field=.spec.leafTable[*][*].tags[*]
//
// +informer:index:name=ByText,field=.spec.texts[*]
// +informer:index:name=ByTextKey,field=.spec.texts[keys]
// +informer:index:name=ByTextEntry,field=.spec.texts['a']
// +informer:index:name=ByTextQuoted,field=.spec.texts["\u00e9"]
// +informer:index:name=ByTextPointer,field=.spec.textPointers[*]
// +informer:index:name=ByTextPointerKey,field=.spec.textPointers[keys]
// +informer:index:name=ByTextPointerEntry,field=.spec.textPointers['b']
// +informer:index:name=ByTextMap,field=.spec.textMap[*]
// +informer:index:name=ByTextMapKey,field=.spec.textMap[keys]
// +informer:index:name=ByTextMapEntry,field=.spec.textMap[""]
// +informer:index:name=ByLeaf,field=.spec.leaves[*].name
// +informer:index:name=ByLeafKey,field=.spec.leaves[keys]
// +informer:index:name=ByLeafEntry,field=.spec.leaves['a'].name
// +informer:index:name=ByLeafRef,field=.spec.leaves['a'].ref
// +informer:index:name=ByLeafTag,field=.spec.leaves[*].tags[*]
// +informer:index:name=ByLeafPointer,field=.spec.leafPointers[*].ref
// +informer:index:name=ByLeafPointerEntry,field=.spec.leafPointers['b'].tags[*]
// +informer:index:name=ByNumberKey,field=.spec.numbers[keys]
// +informer:index:name=ByNumberLine,field=.spec.numbers[*][*]
// +informer:index:name=ByNumberEntry,field=.spec.numbers['7'][*]
// +informer:index:name=ByList,field=.spec.listPointers[*][*]
// +informer:index:name=ByListEntry,field=.spec.listPointers['a'][*]
// +informer:index:name=ByMapOfMaps,field=.spec.mapOfMaps[*][*]
// +informer:index:name=ByMapOfMapsKey,field=.spec.mapOfMaps[*][keys]
// +informer:index:name=ByMapOfMapsEntry,field=.spec.mapOfMaps['a']['b']
// +informer:index:name=ByMapsInList,field=.spec.mapsInList[*]['a']
// +informer:index:name=ByLabel,field=.metadata.labels['a']
//
// +informer:index:name=ByPair,field=.spec.pair
// +informer:index:name=ByPairPointer,field=.spec.pairPointer
// +informer:index:name=ByPairs,field=.spec.pairs[*]
// +informer:index:name=ByPairEntry,field=.spec.pairMap['a']
// +informer:index:name=ByTarget,field=.spec.target
//
// +informer:index:name=ByTwo,field=.spec.string;.spec.int
// +informer:index:name=ByTwoPointers,field=.spec.pointer;.spec.next.name
// +informer:index:name=ByThree,field=.metadata.labels['a'];.spec.pair;.spec.slice[*]
// +informer:index:name=ByOneElement,field=.spec.nodes[*].name;.spec.nodes[*].ref
// +informer:index:name=ByElementAndBelow,field=.spec.nodes[*].names[*];.spec.nodes[*].name
// +informer:index:name=ByElementTwice,field=.spec.nodePointers[*].nodes[*].name;.spec.nodePointers[*].nodes[*].ref;.spec.nodePointers[*].name
// +informer:index:name=ByBranches,field=.spec.nodes[*].names[*];.spec.nodes[*].refs[*]
// +informer:index:name=ByEveryPair,field=.spec.slice[*];.spec.slicePointers[*]
// +informer:index:name=ByCell,field=.spec.string;.spec.matrix[*][*]
// +informer:index:name=ByLabelPair,field=.metadata.labels[keys];.metadata.labels[*]
// +informer:index:name=ByEntryPair,field=.spec.leaves[keys];.spec.leaves[*].tags[*]
// +informer:index:name=ByPointerPair,field=.spec.textPointers[*];.spec.textPointers[keys]
// +informer:index:name=ByInnerPair,field=.spec.mapOfMaps[*][keys];.spec.mapOfMaps[*][*];.spec.mapOfMaps[keys]
// +informer:index:name=ByTwoEntries,field=.spec.texts['a'];.spec.texts['b']
//
// +informer:index:name=WhenTrue,field=.spec.string,when=.spec.bool==true
// +informer:index:name=WhenFalse,field=.spec.string,when=.spec.bool!=true
// +informer:index:name=WhenFlag,field=.spec.string,when=.spec.flag==true
// +informer:index:name=WhenNotFlag,field=.spec.string,when=.spec.flag!=true
// +informer:index:name=WhenFlagFalse,field=.spec.string,when=.spec.flag==false
// +informer:index:name=WhenFlagNull,field=.spec.string,when=.spec.flag==null
// +informer:index:name=WhenFlagThere,field=.spec.string,when=.spec.flag!=null
// +informer:index:name=WhenText,field=.spec.int,when=.spec.string=='a'
// +informer:index:name=WhenNotText,field=.spec.int,when=.spec.named!=""
// +informer:index:name=WhenNumber,field=.spec.string,when=.spec.small==-5
// +informer:index:name=WhenCount,field=.spec.string,when=.spec.numberPointer!=0
// +informer:index:name=WhenDeep,field=.spec.string,when=.spec.next.next.name==a
// +informer:index:name=WhenNotDeep,field=.spec.string,when=.spec.next.next.name!=a
// +informer:index:name=WhenDeepNull,field=.spec.string,when=.spec.next.next==null
// +informer:index:name=WhenDeepThere,field=.spec.string,when=.spec.next.next.ref!=null
// +informer:index:name=WhenBelowNull,field=.spec.string,when=.spec.next.name==null
// +informer:index:name=WhenInline,field=.spec.string,when=.spec.inlinePointer==a
// +informer:index:name=WhenEntry,field=.spec.string,when=.spec.texts['a']==b
// +informer:index:name=WhenNotEntry,field=.spec.string,when=.spec.texts['a']!="b"
// +informer:index:name=WhenEntryNull,field=.spec.string,when=.spec.texts["b"]==null
// +informer:index:name=WhenEntryThere,field=.spec.string,when=.spec.textPointers['a']!=null
// +informer:index:name=WhenEntryPointer,field=.spec.string,when=.spec.textPointers['a']==a
// +informer:index:name=WhenEntryField,field=.spec.string,when=.spec.leaves['a'].ref!=a
// +informer:index:name=WhenEntryFieldNull,field=.spec.string,when=.spec.leafPointers['a'].ref==null
// +informer:index:name=WhenEntryFieldThere,field=.spec.string,when=.spec.leaves['a'].name!=null
// +informer:index:name=WhenSwitches,field=.spec.string,when=.spec.switch==true && .spec.flag!=true && .spec.switches['a']==true
// +informer:index:name=WhenNumberEntry,field=.spec.string,when=.spec.mapOfMaps['a']['b']==true
// +informer:index:name=WhenBoth,field=.spec.slice[*],when=.spec.bool==true && .spec.flag!=false && .spec.string!="a"&&.spec.string != b
// +informer:index:name=WhenSeveral,field=.spec.nodes[*].name;.spec.string,when=.status.phase!=a && .spec.next!=null
//
// +informer:index:name=ByControllerUID,owner=controller
// +informer:index:name=ByOwnerNode,owner=Node
// +informer:index:name=ByOwnerWhen,owner=Deployment.apps,when=.spec.bool==true
//
// +informer:index:name=ByFunc,func=github.com/informer-gen/informer-gen/generator/random/funcs/shapes/keys.Keys
// +informer:index:name=ByFuncWhen,func=github.com/informer-gen/informer-gen/generator/random/funcs/shapes/keys.Keys,when=.spec.bool==true
// +informer:index:name=InByFunc,func=github.com/informer-gen/informer-gen/generator/random/funcs/shapes/keys.Keys,namespaced=true
// +informer:index:name=InByString,field=.spec.string,namespaced=true
// +informer:index:name=InBySlice,field=.spec.slice[*],namespaced=true
// +informer:index:name=InByPair,field=.spec.pairPointer,namespaced=true
// +informer:index:name=InByTwo,field=.spec.nodes[*].name;.spec.nodes[*].ref,namespaced=true,when=.spec.flag!=true
// +informer:index:name=InByOwner,owner=Deployment.apps,namespaced=true
// +informer:index:name=InByController,owner=controller,when=.spec.bool==false,namespaced=true
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

// Switch is a bool by another name.
type Switch bool

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

	Flag     *bool             `json:"flag"`
	Switch   Switch            `json:"switch"`
	Switches map[string]Switch `json:"switches"`
	Maps     `json:",inline"`

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
}

// InlinePointer is embedded as a pointer.
type InlinePointer struct {
	InlinePointer string `json:"inlinePointer"`
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
