// SPDX-License-Identifier: Apache-2.0

// Package kubebuilder has the markers of kubebuilder and controller-gen.
package kubebuilder

import "github.com/informer-gen/informer-gen/internal/generator/marker"

// ObjectRoot marks the kinds (and the lists) of a kubebuilder project.
type ObjectRoot struct {
	marker.At
	Root marker.Value `arg:"" allowed:"true false" doc:"true if omitted"`
}

// Resource describes the resource of a kind in a kubebuilder project.
type Resource struct {
	marker.At
	Path       marker.Value   `arg:"path" doc:"the plural, in lower case"`
	Scope      marker.Value   `arg:"scope" allowed:"Namespaced Cluster" doc:"Namespaced if omitted"`
	Singular   marker.Value   `arg:"singular" doc:"not used by informers"`
	ShortName  []marker.Value `arg:"shortName" doc:"not used by informers"`
	Categories []marker.Value `arg:"categories" doc:"not used by informers"`
}

// Skip excludes a package's types, except those with a genclient marker of their own.
type Skip struct{ marker.At }

// SkipVersion is Skip for one type.
type SkipVersion struct{ marker.At }

// UnservedVersion means that the API server doesn't serve a type in this version, so it can't be
// watched.
type UnservedVersion struct{ marker.At }

// DeprecatedVersion deprecates a type in this version.
type DeprecatedVersion struct {
	marker.At
	Warning marker.Value `arg:"warning" doc:"what to do instead, for the comments of generated code"`
}
