// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"github.com/dave/jennifer/jen"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

type kind struct {
	*model.Type
	Group   *model.Group
	Version *model.Version
	// informers and listers are the same package in the layout Single.
	informers, listers *pkg
	// projections is the package of the projection's types; nil for other kinds.
	projections *pkg
	// configurations is the package of the apply configuration; nil if there is none.
	configurations *pkg
	controllers    bool
}

func (k *kind) file(p *pkg, taken ...string) *file {
	f := newFile(p, k.File()+".go", k.Source.Path, taken...)
	f.usesDeprecated = k.Deprecated != "" || k.Source.Deprecated && k.Projection == nil
	return f
}

func (f *file) lister(k *kind, id string) *jen.Statement { return f.from(k.listers, "listers", id) }
