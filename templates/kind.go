// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"github.com/dave/jennifer/jen"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

// kind is a type, where it stands, and where it is generated.
type kind struct {
	*model.Type
	Group   *model.Group
	Version *model.Version
	// informers and listers are the same package in the layout Single.
	informers, listers *pkg
	// projections is that of the types of projections; nil for a kind that is none.
	projections *pkg
	// controllers means that the informer has the methods that controllers are made with.
	controllers bool
}

// file begins widget.go in p.
func (k *kind) file(p *pkg, taken ...string) *file {
	f := newFile(p, k.File()+".go", k.Source.Path, taken...)
	f.usesDeprecated = k.Deprecated != "" || k.Source.Deprecated && k.Projection == nil
	return f
}

// lister is an identifier of the package of k's lister.
func (f *file) lister(k *kind, id string) *jen.Statement { return f.from(k.listers, "listers", id) }
