// SPDX-License-Identifier: Apache-2.0

package marker

// The markers that the generator knows. Each one is a struct: the names, the allowed values and the words for the
// documentation of its arguments stand in the tags of its fields, and the parser, the validator and the documentation
// read them there. To add a marker, add a struct and its line in definitions.

// Genclient selects a type: an informer and a lister are generated for it.
type Genclient struct{ At }

// NonNamespaced makes a type cluster-scoped.
type NonNamespaced struct{ At }

// NoVerbs says that the API server offers no verb for a type; so there is nothing to inform about.
type NoVerbs struct{ At }

// ReadOnly is OnlyVerbs with get, list and watch.
type ReadOnly struct{ At }

// OnlyVerbs names the verbs that the API server offers for a type.
type OnlyVerbs struct {
	At
	Verbs []Value `arg:"" required:"true" allowed:"create update updateStatus delete deleteCollection get list watch patch apply applyStatus" doc:"the verbs, separated by commas"`
}

// SkipVerbs names the verbs that the API server doesn't offer for a type.
type SkipVerbs struct {
	At
	Verbs []Value `arg:"" required:"true" allowed:"create update updateStatus delete deleteCollection get list watch patch apply applyStatus" doc:"the verbs, separated by commas"`
}

// NoStatus is for clientsets; it means nothing to informers.
type NoStatus struct{ At }

// Method is for clientsets; it means nothing to informers.
type Method struct {
	At
	Name        Value `arg:"" required:"true" doc:"the name of an additional client method"`
	Verb        Value `arg:"verb" doc:"the verb that it stands for"`
	Subresource Value `arg:"subresource" doc:"the subresource that it works on"`
	Input       Value `arg:"input" doc:"the type that it takes"`
	Result      Value `arg:"result" doc:"the type that it returns"`
}

// ResourceName is the plural in URLs, where it isn't the lower-case plural of the type's name.
type ResourceName struct {
	At
	Name Value `arg:"" required:"true" doc:"the plural, in lower case"`
}

// GroupName is the API group of a package.
type GroupName struct {
	At
	Name Value `arg:"" required:"true" empty:"true" doc:"the full name of the group, empty for the core group"`
}

// GroupGoName is the group's name in Go, where it isn't the first part of the group's name.
type GroupGoName struct {
	At
	Name Value `arg:"" required:"true" doc:"an exported Go identifier"`
}

// VersionName is the API version of a package, where it isn't the name of the package.
type VersionName struct {
	At
	Name Value `arg:"" required:"true" doc:"the version, for example v1beta1"`
}

// ObjectRoot marks the kinds (and the lists) of a kubebuilder project.
type ObjectRoot struct {
	At
	Root Value `arg:"" allowed:"true false" doc:"true if left out"`
}

// Resource describes the resource of a kind in a kubebuilder project.
type Resource struct {
	At
	Path       Value   `arg:"path" doc:"the plural, in lower case"`
	Scope      Value   `arg:"scope" allowed:"Namespaced Cluster" doc:"Namespaced if left out"`
	Singular   Value   `arg:"singular" doc:"means nothing to informers"`
	ShortName  []Value `arg:"shortName" doc:"means nothing to informers"`
	Categories []Value `arg:"categories" doc:"means nothing to informers"`
}

// Skip excludes a package's types, except for those that have a Genclient marker of their own.
type Skip struct{ At }

// SkipVersion is Skip for one type.
type SkipVersion struct{ At }

// UnservedVersion says that the API server doesn't serve a type in this version; so there is nothing to inform about.
type UnservedVersion struct{ At }

// Index declares a typed index.
type Index struct {
	At
	Name  Value `arg:"name" required:"true" doc:"the name of the index and of the lister's method, for example ByNode"`
	Field Value `arg:"field" doc:"the path to the key by JSON names, for example .spec.containers[*].image"`
	Func  Value `arg:"func" instead:"true" doc:"the name of a function in the package of the type: func(*Type) []Key"`
}

var definitions = []*Definition{
	define[Genclient](Type, "genclient", "generates an informer and a lister for the type"),
	define[NonNamespaced](Type, "genclient:nonNamespaced", "makes the type cluster-scoped"),
	define[NoVerbs](Type, "genclient:noVerbs", "the API server offers no verb for the type: nothing is generated"),
	define[ReadOnly](Type, "genclient:readonly", "the API server offers get, list and watch for the type"),
	define[OnlyVerbs](Type, "genclient:onlyVerbs", "the verbs that the API server offers; informers need list and watch"),
	define[SkipVerbs](Type, "genclient:skipVerbs", "the verbs that the API server doesn't offer; informers need list and watch"),
	define[NoStatus](Type, "genclient:noStatus", "for clientsets; means nothing to informers"),
	define[Method](Type, "genclient:method", "for clientsets; means nothing to informers"),
	define[ResourceName](Type, "resourceName", "the plural in URLs, where it isn't the lower-case plural of the type's name"),
	define[GroupName](Package, "groupName", "the API group of the package; in any comment of any of its files"),
	define[GroupGoName](Package, "groupGoName", "the name of the group in Go, where it isn't the first part of the group's name"),
	define[VersionName](Package, "versionName", "the API version of the package, where it isn't the package's name"),
	define[ObjectRoot](Type, "kubebuilder:object:root", "generates an informer and a lister for the type, if it has ObjectMeta"),
	define[Resource](Type, "kubebuilder:resource", "the plural in URLs and the scope"),
	define[Skip](Package, "kubebuilder:skip", "kubebuilder's markers select no type of the package"),
	define[SkipVersion](Type, "kubebuilder:skipversion", "kubebuilder's markers don't select the type"),
	define[UnservedVersion](Type, "kubebuilder:unservedversion", "the API server doesn't serve the type in this version: nothing is generated"),
	define[Index](Type, "informer:index", "a typed index, and the lister's methods that use it"),
}

// foreign are names similar to ours that belong to other tools, so they are not misspellings of ours.
var foreign = []string{
	"kubebuilder:object:generate", "kubebuilder:storageversion", "kubebuilder:deprecatedversion",
	"kubebuilder:subresource:status", "kubebuilder:subresource:scale", "kubebuilder:printcolumn",
	"kubebuilder:selectablefield", "kubebuilder:metadata", "kubebuilder:default", "kubebuilder:example",
	"kubebuilder:rbac", "kubebuilder:webhook", "kubebuilder:scaffold", "kubebuilder:title",
}
