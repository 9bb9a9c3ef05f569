// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"cmp"
	"fmt"
	"go/token"
	"go/types"
	"maps"
	"slices"

	"github.com/informer-gen/informer-gen/internal/generator/fields/internal/flow"
	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
)

// Gain is a projection made smaller, or possible at all, by using less of an object at some places.
type Gain struct {
	// Without are the uses to remove, in addition to those of earlier gains. Uses in the program's
	// modules come first; each half is sorted by path and place.
	Without []Use
	// Fields are the result of [Kind.Projection] without these uses.
	Fields []string
	// Kept and Total count strings, numbers and values with their own form in JSON, in the types of
	// the projection and of the kind, except those common to all projections.
	Kept, Total int
}

const maxGains = 5 // the next ones would be small

// Gains returns the gains from removing uses of whole objects and of whole parts. Uses whose
// removal helps only together share a Gain. The first gain saves the most fields per line of code.
// There are none if k is a projection.
func (k *Kind) Gains() []Gain {
	if k.Projected {
		return nil
	}
	g := gains{k: k, whole: map[string][]Use{}, total: leaves(k.typ, "", nil)}
	for _, u := range k.Uses {
		if u.How == Read || u.How == Present {
			g.read = append(g.read, Use{How: u.How, field: u.field})
		} else {
			g.whole[u.field] = append(g.whole[u.field], u)
		}
	}
	slices.SortFunc(g.read, func(a, b Use) int { return cmp.Or(cmp.Compare(a.field, b.field), cmp.Compare(a.How, b.How)) })
	g.read = slices.Compact(g.read)
	var found []Gain
	for len(found) < maxGains {
		without := g.next()
		if without == nil {
			break
		}
		gain := Gain{Total: g.total}
		for _, field := range without {
			gain.Without = append(gain.Without, g.whole[field]...)
			delete(g.whole, field)
		}
		sortUses(gain.Without)
		slices.SortStableFunc(gain.Without, func(a, b Use) int {
			switch {
			case a.own == b.own:
				return 0
			case a.own:
				return -1
			}
			return 1
		})
		gain.Fields, _ = needed(g.uses(nil))
		gain.Kept = leaves(newSelection(gain.Fields).reduce(k.typ), "", nil)
		found = append(found, gain)
	}
	return found
}

// gains holds the remaining uses while Gains removes some.
type gains struct {
	k     *Kind
	total int
	read  []Use            // one for each field
	whole map[string][]Use // by field; "" for the object
}

// next returns the fields whose whole uses go next; nil if nothing would be gained.
func (g *gains) next() (best []string) {
	now := g.size(nil)
	var most float64
	for _, field := range slices.Sorted(maps.Keys(g.whole)) {
		// A part stays in use as long as a larger one is.
		var without []string
		lines := map[token.Position]bool{}
		for other, uses := range g.whole {
			if !within(field, other) {
				continue
			}
			without = append(without, other)
			for _, u := range uses {
				lines[token.Position{Filename: u.Pos.Filename, Line: u.Pos.Line}] = true
			}
		}
		if gain := float64(now-g.size(without)) / float64(len(lines)); gain > most {
			best, most = without, gain
		}
	}
	return best
}

func (g *gains) size(without []string) int {
	fields, ok := needed(g.uses(without))
	if !ok {
		return g.total
	}
	return leaves(newSelection(fields).reduce(g.k.typ), "", nil)
}

func (g *gains) uses(without []string) []Use {
	uses := slices.Clone(g.read)
	for field, all := range g.whole {
		if !slices.Contains(without, field) {
			uses = append(uses, all[0])
		}
	}
	return uses
}

// leaves counts the indivisible values in a type at a path, except those common to all projections.
// A type inside itself counts as one.
func leaves(t types.Type, path string, outer []types.Type) (n int) {
	if slices.Contains(commonFields, path) {
		return 0
	}
	if flow.IsOpaque(t) || slices.ContainsFunc(outer, func(o types.Type) bool { return types.Identical(o, t) }) {
		return 1
	}
	if _, ok := types.Unalias(t).(*types.Named); ok {
		outer = append(outer, t)
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return leaves(u.Elem(), path, outer)
	case *types.Struct:
		for i := range u.NumFields() {
			switch name, inline := gotypes.JSONName(u.Field(i), u.Tag(i)); {
			case inline:
				n += leaves(u.Field(i).Type(), path, outer)
			case name != "":
				n += leaves(u.Field(i).Type(), fmt.Sprintf("%s.%s", path, name), outer)
			}
		}
		return n
	}
	if elem, ok := gotypes.Elem(t); ok {
		return leaves(elem, path+each, outer)
	}
	return 1
}
