// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/informer-gen/informer-gen/internal/generator/load"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/model"
)

// api is a package with API types.
type api struct {
	pkg      *load.Package
	markers  []marker.Marker // the package's
	declared []*declared
	kinds    []*kind
	discover bool // selects kinds by their fields if no type is marked

	group, groupGoName, version Fact
}

// declared is a type declaration and what stands above it.
type declared struct {
	spec    *ast.TypeSpec
	doc     *ast.CommentGroup
	file    *ast.File
	markers []marker.Marker
	// excluded is why the config file leaves the type out; not set if it doesn't.
	excluded Fact
	// listed are the places where the config file names the type without saying more.
	listed []marker.At
	// incomplete means that markers are missing because they are wrong, which is reported.
	incomplete bool
	selection  selection
}

// kind is an API type that something is generated for, or a projection of one.
type kind struct {
	*model.Type
	api      *api
	declared *declared
	goType   *types.Named
	plural   Fact
	// scope and resource are those of this version alone until shareAcrossVersions.
	scope, resource Fact
	pos             token.Position
	indexes         []token.Position // of Type.Indexes
	// projectionOf is the kind that this is a projection of; nil if it is none.
	projectionOf *kind
}
