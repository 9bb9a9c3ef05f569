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

type api struct {
	pkg      *load.Package
	markers  []marker.Marker // of the package
	decls    []*typeDecl
	kinds    []*kind
	discover bool // selects kinds by their fields if no type is marked

	group, groupGoName, version Fact
}

type typeDecl struct {
	spec    *ast.TypeSpec
	doc     *ast.CommentGroup
	file    *ast.File
	markers []marker.Marker
	// excluded is the config file's reason to leave out the type; not set if there is none.
	excluded Fact
	// listed are mentions of the type in the config file without further settings.
	listed []marker.At
	// incomplete means that some markers are missing because they are wrong (and reported).
	incomplete bool
	selection  selection
}

// kind is an API type selected for generation, or a projection of one.
type kind struct {
	*model.Type
	api    *api
	decl   *typeDecl
	goType *types.Named
	plural Fact
	// Until shareAcrossVersions, scope and resource come from this version alone.
	scope, resource Fact
	pos             token.Position
	indexes         []token.Position // of Type.Indexes
	// projectionOf is the kind behind a projection; nil for other kinds.
	projectionOf *kind
}
