// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/internal/generator/apply"
	"github.com/informer-gen/informer-gen/internal/generator/report"
)

// applyReader returns the Reader for the kinds of apis; nil if there shall be no apply
// configurations.
func applyReader(ctx context.Context, r *report.Report, in Input, apis []*api) *apply.Reader {
	if !in.ApplyConfigurations {
		return nil
	}
	var kinds []*types.Named
	for _, a := range apis {
		for _, k := range a.kinds {
			if k.projectionOf == nil {
				kinds = append(kinds, k.goType)
			}
		}
	}
	before := r.Errors()
	reader, err := apply.NewReader(ctx, r, in.Program, in.Output.ImportPath, kinds)
	if err != nil {
		r.FailAt(token.Position{}, err.Error())
	}
	if r.Errors() > before {
		return nil
	}
	return reader
}

// readApplyConfigurations sets the apply configurations of kinds that are generated into one
// package. Client-go has those of Kubernetes' own kinds.
func readApplyConfigurations(reader *apply.Reader, apis []*api) {
	if reader == nil {
		return
	}
	var kinds []*kind
	for _, a := range apis {
		for _, k := range a.kinds {
			if k.projectionOf == nil && !reader.Has(k.goType) {
				kinds = append(kinds, k)
			}
		}
	}
	slices.SortStableFunc(kinds, func(a, b *kind) int { return strings.Compare(a.Name, b.Name) })
	var all []apply.Kind
	for _, k := range kinds {
		all = append(all, apply.Kind{Name: k.Name, Type: k.goType, Pos: k.pos})
	}
	for i, configuration := range reader.Read(all) {
		kinds[i].Apply = configuration
	}
}
