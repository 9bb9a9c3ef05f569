// SPDX-License-Identifier: Apache-2.0

package marker

// Markers shared with Kubernetes' generators.

// Genclient selects a type.
type Genclient struct{ At }

// InformerGen set to false excludes all types of a package.
type InformerGen struct {
	At
	Value Value `arg:"" required:"true" allowed:"true false" doc:"false excludes the package's types"`
}

// ListerGen set to false only makes sense together with InformerGen: an informer has its lister.
type ListerGen struct {
	At
	Value Value `arg:"" required:"true" allowed:"true false" doc:"false has no effect of its own: an informer has its lister"`
}

// NonNamespaced makes a type cluster-scoped.
type NonNamespaced struct{ At }

// NoVerbs means that the API server offers no verbs for a type, so it can't be watched.
type NoVerbs struct{ At }

// ReadOnly is OnlyVerbs with get, list and watch.
type ReadOnly struct{ At }

// OnlyVerbs are the verbs that the API server offers for a type.
type OnlyVerbs struct {
	At
	Verbs []Value `arg:"" required:"true" allowed:"create update updateStatus delete deleteCollection get list watch patch apply applyStatus" doc:"the verbs, separated by commas"`
}

// SkipVerbs are verbs that the API server doesn't offer for a type.
type SkipVerbs struct {
	At
	Verbs []Value `arg:"" required:"true" allowed:"create update updateStatus delete deleteCollection get list watch patch apply applyStatus" doc:"the verbs, separated by commas"`
}

// ResourceName is the plural in URLs, if it isn't the lower-case plural of the type's name.
type ResourceName struct {
	At
	Name Value `arg:"" required:"true" doc:"the plural, in lower case"`
}

// GroupName is the API group of a package.
type GroupName struct {
	At
	Name Value `arg:"" required:"true" empty:"true" doc:"the full name of the group, empty for the core group"`
}

// GroupGoName is the group's name in Go, if it isn't the first part of the group's name.
type GroupGoName struct {
	At
	Name Value `arg:"" required:"true" doc:"an exported Go identifier"`
}

// VersionName is the API version of a package, if it isn't the name of the package.
type VersionName struct {
	At
	Name Value `arg:"" required:"true" doc:"the version, for example v1beta1"`
}

// LifecycleDeprecated is the Kubernetes release that deprecates a built-in type. Without a
// LifecycleReplacement the deprecation is only planned and is ignored.
type LifecycleDeprecated struct {
	At
	Release Value `arg:"" required:"true" doc:"for example 1.21"`
}

// LifecycleRemoved is the first Kubernetes release without a built-in type.
type LifecycleRemoved struct {
	At
	Release Value `arg:"" required:"true" doc:"for example 1.25"`
}

// LifecycleReplacement is the replacement for a deprecated built-in type.
type LifecycleReplacement struct {
	At
	Type []Value `arg:"" required:"true" empty:"true" doc:"group, version and kind, separated by commas; the core group is empty"`
}
