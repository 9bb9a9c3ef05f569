// SPDX-License-Identifier: Apache-2.0

package v1

import "k8s.io/apimachinery/pkg/types"

// Maps has what is looked into with brackets, more than once, and what is a key as a whole.
type Maps struct {
	Matrix         [][]string     `json:"matrix"`
	MatrixPointers []*[2][]*Named `json:"matrixPointers"`
	Table          Table          `json:"table"`
	LeafTable      [][]*Leaf      `json:"leafTable"`

	Texts        map[string]string         `json:"texts"`
	TextPointers map[Named]*string         `json:"textPointers"`
	TextMap      *map[string]Named         `json:"textMap"`
	Leaves       map[Named]Leaf            `json:"leaves"`
	LeafPointers Leaves                    `json:"leafPointers"`
	Numbers      map[int16][]string        `json:"numbers"`
	ListPointers map[string]*[]*string     `json:"listPointers"`
	MapOfMaps    map[string]map[Named]bool `json:"mapOfMaps"`
	MapsInList   []map[string]string       `json:"mapsInList"`

	Pair        Pair                  `json:"pair"`
	PairPointer *Pair                 `json:"pairPointer"`
	Pairs       []Pair                `json:"pairs"`
	PairMap     map[string]*Pair      `json:"pairMap"`
	Target      *types.NamespacedName `json:"target"`
}

// Table is a list of lists by another name.
type Table []Names

// Leaves is a map by another name.
type Leaves map[string]*Leaf

// Leaf has nothing below it.
type Leaf struct {
	Name string   `json:"name"`
	Ref  *string  `json:"ref"`
	Tags []string `json:"tags"`
}

// Pair can be compared.
type Pair struct {
	Left  Named `json:"left"`
	Right struct {
		Count Count   `json:"count"`
		Small [2]int8 `json:"small"`
	} `json:"right"`
}
