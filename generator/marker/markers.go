// SPDX-License-Identifier: Apache-2.0

package marker

// The markers that the generator knows. Each one is a struct: the names, the allowed values and the
// words for the documentation of its arguments stand in the tags of its fields, and the parser, the
// validator and the documentation read them there. To add a marker, add a struct and its line in
// definitions.

// Genclient selects a type: an informer and a lister are generated for it.
type Genclient struct{ At }

// Generate selects a type or leaves it out, whatever other markers say.
type Generate struct {
	At
	Value Value `arg:"" required:"true" allowed:"true false" doc:"true selects the type, false leaves it out"`
}

// InformerGen set to false takes all types of a package out.
type InformerGen struct {
	At
	Value Value `arg:"" required:"true" allowed:"true false" doc:"false takes the package's types out"`
}

// ListerGen set to false only makes sense together with InformerGen, because an informer has its
// lister.
type ListerGen struct {
	At
	Value Value `arg:"" required:"true" allowed:"true false" doc:"false does nothing of its own: an informer has its lister"`
}

// ClientGen is for clientsets, which informers don't need; it means nothing to them.
type ClientGen struct {
	At
	Value Value `arg:"" required:"true" allowed:"true false" doc:"means nothing to informers"`
}

// NonNamespaced makes a type cluster-scoped.
type NonNamespaced struct{ At }

// NoVerbs means that the API server offers no verb for a type; so there is nothing to inform about.
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

// Plural is the plural of a kind in Go and, in lower case, in URLs, unless ResourceName or Resource
// gives that.
type Plural struct {
	At
	Name Value `arg:"" required:"true" doc:"an exported Go identifier"`
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

// UnservedVersion means that the API server doesn't serve a type in this version; so there is
// nothing to inform about.
type UnservedVersion struct{ At }

// DeprecatedVersion means that a type is deprecated in this version.
type DeprecatedVersion struct {
	At
	Warning Value `arg:"warning" doc:"what to do instead, for the comments of generated code"`
}

// LifecycleDeprecated is the release of Kubernetes that deprecates a built-in type. It takes a
// LifecycleReplacement to mean something to informers: without one, it is only planned.
type LifecycleDeprecated struct {
	At
	Release Value `arg:"" required:"true" doc:"for example 1.21"`
}

// LifecycleRemoved is the first release of Kubernetes that doesn't serve a built-in type.
type LifecycleRemoved struct {
	At
	Release Value `arg:"" required:"true" doc:"for example 1.25"`
}

// LifecycleReplacement is the type to use in the place of a deprecated built-in type.
type LifecycleReplacement struct {
	At
	Type []Value `arg:"" required:"true" empty:"true" doc:"group, version and kind, separated by commas; the core group is empty"`
}

// Index declares a typed index.
type Index struct {
	At
	Name       Value   `arg:"name" required:"true" doc:"the name of the index and of the lister's method, for example ByNode"`
	Fields     []Value `arg:"field" doc:"the path to the key by JSON names, for example .spec.containers[*].image; several of them make a key of several parts: .spec.nodeName;.status.phase"`
	Func       Value   `arg:"func" instead:"true" doc:"a function func(*Type) []Key: its name, behind its import path and a dot if it isn't in the package of the type"`
	Owner      Value   `arg:"owner" instead:"true" doc:"controller: the key is the UID of the object's controller; Kind.group, for example Deployment.apps: the keys are the names of the owners of that kind"`
	When       Value   `arg:"when" doc:"what must hold, else the object isn't in the index, for example .spec.suspend==false && .status.phase!=Done"`
	Namespaced Value   `arg:"namespaced" allowed:"true false" doc:"true: keys count within a namespace, so that only the lister of a namespace has the methods; false if left out"`
}

var definitions = []*Definition{
	define[Genclient](Type, "genclient", "generates an informer and a lister for the type"),
	define[Generate](Type, "informer:generate", "selects the type, or leaves it out although it is marked otherwise"),
	define[Plural](Type, "informer:plural", "the plural in Go and, in lower case, in URLs"),
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
	define[InformerGen](Package, "k8s:informer-gen", "false takes the package's types out"),
	define[ListerGen](Package, "k8s:lister-gen", "false does nothing of its own: +k8s:informer-gen=false turns both off"),
	define[ClientGen](Package, "k8s:client-gen", "for clientsets; means nothing to informers"),
	define[LifecycleDeprecated](Type, "k8s:prerelease-lifecycle-gen:deprecated", "with a replacement: the generated code is deprecated"),
	define[LifecycleRemoved](Type, "k8s:prerelease-lifecycle-gen:removed", "the release that stops serving a deprecated type"),
	define[LifecycleReplacement](Type, "k8s:prerelease-lifecycle-gen:replacement", "the type to use instead of a deprecated one"),
	define[ObjectRoot](Type, "kubebuilder:object:root", "generates an informer and a lister for the type, if it has ObjectMeta"),
	define[Resource](Type, "kubebuilder:resource", "the plural in URLs and the scope"),
	define[Skip](Package, "kubebuilder:skip", "kubebuilder's markers select no type of the package"),
	define[SkipVersion](Type, "kubebuilder:skipversion", "kubebuilder's markers don't select the type"),
	define[UnservedVersion](Type, "kubebuilder:unservedversion", "the API server doesn't serve the type in this version: nothing is generated"),
	define[DeprecatedVersion](Type, "kubebuilder:deprecatedversion", "the generated code is deprecated"),
	define[Index](Type, "informer:index", "a typed index, and the lister's methods that use it"),
}

// foreign are names similar to ours that belong to other tools, so they are not misspellings of
// ours.
var foreign = []string{
	"kubebuilder:object:generate", "kubebuilder:storageversion",
	"kubebuilder:subresource:status", "kubebuilder:subresource:scale", "kubebuilder:printcolumn",
	"kubebuilder:selectablefield", "kubebuilder:metadata", "kubebuilder:default", "kubebuilder:example",
	"kubebuilder:rbac", "kubebuilder:webhook", "kubebuilder:scaffold", "kubebuilder:title",
	"kubebuilder:validation", "kubebuilder:pruning",

	"k8s:applyconfiguration-gen", "k8s:conversion-gen", "k8s:conversion-gen-external-types", "k8s:deepcopy-gen",
	"k8s:deepcopy-gen:interfaces", "k8s:defaulter-gen", "k8s:defaulter-gen-input", "k8s:openapi-gen",
	"k8s:openapi-model-package", "k8s:prerelease-lifecycle-gen", "k8s:prerelease-lifecycle-gen:introduced",
	"k8s:protobuf-gen", "k8s:register-gen", "k8s:validation-gen", "k8s:validation-gen-input",
	"k8s:validation-gen-nolint", "k8s:validation-gen-scheme-registry", "k8s:validation-gen-test-fixture",
	"k8s:validation-gen-test-targets",
}

// retired are names that code-generator once had, by what to write in their place.
var retired = map[string]string{
	"nonNamespaced": "genclient:nonNamespaced",
	"noMethods":     "genclient:noVerbs",
	"readonly":      "genclient:readonly",
}
