// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/marker/kubebuilder"
)

var definitions = []*Definition{
	define[marker.Genclient](Type, "genclient", "generates an informer and a lister for the type"),
	define[marker.Generate](Type, "informer:generate", "selects the type, or excludes it, whatever other markers say"),
	define[marker.Plural](Type, "informer:plural", "the plural in Go and, in lower case, in URLs"),
	define[marker.NonNamespaced](Type, "genclient:nonNamespaced", "makes the type cluster-scoped"),
	define[marker.NoVerbs](Type, "genclient:noVerbs", "the API server offers no verb for the type: nothing is generated"),
	define[marker.ReadOnly](Type, "genclient:readonly", "the API server offers get, list and watch for the type"),
	define[marker.OnlyVerbs](Type, "genclient:onlyVerbs", "the verbs that the API server offers; informers need list and watch"),
	define[marker.SkipVerbs](Type, "genclient:skipVerbs", "the verbs that the API server doesn't offer; informers need list and watch"),
	define[noStatus](Type, "genclient:noStatus", "for clientsets; not used by informers"),
	define[method](Type, "genclient:method", "for clientsets; not used by informers"),
	define[marker.ResourceName](Type, "resourceName", "the plural in URLs, where it isn't the lower-case plural of the type's name"),
	define[marker.GroupName](Package, "groupName", "the API group of the package"),
	define[marker.GroupGoName](Package, "groupGoName", "the name of the group in Go, where it isn't the first part of the group's name"),
	define[marker.VersionName](Package, "versionName", "the API version of the package, where it isn't the package's name"),
	define[marker.InformerGen](Package, "k8s:informer-gen", "false excludes the package's types"),
	define[marker.ListerGen](Package, "k8s:lister-gen", "false has no effect of its own: +k8s:informer-gen=false turns both off"),
	define[clientGen](Package, "k8s:client-gen", "for clientsets; not used by informers"),
	define[marker.LifecycleDeprecated](Type, "k8s:prerelease-lifecycle-gen:deprecated", "deprecates the generated code, if there is a replacement"),
	define[marker.LifecycleRemoved](Type, "k8s:prerelease-lifecycle-gen:removed", "the release that stops serving a deprecated type"),
	define[marker.LifecycleReplacement](Type, "k8s:prerelease-lifecycle-gen:replacement", "the type to use instead of a deprecated one"),
	define[kubebuilder.ObjectRoot](Type, "kubebuilder:object:root", "generates an informer and a lister for the type, if it has ObjectMeta"),
	define[kubebuilder.Resource](Type, "kubebuilder:resource", "the plural in URLs and the scope"),
	define[kubebuilder.Skip](Package, "kubebuilder:skip", "kubebuilder's markers select no type of the package"),
	define[kubebuilder.SkipVersion](Type, "kubebuilder:skipversion", "kubebuilder's markers don't select the type"),
	define[kubebuilder.UnservedVersion](Type, "kubebuilder:unservedversion", "the API server doesn't serve the type in this version: nothing is generated"),
	define[kubebuilder.DeprecatedVersion](Type, "kubebuilder:deprecatedversion", "deprecates the generated code"),
	define[marker.Index](Type, "informer:index", "a typed index, and the lister's methods that use it"),
	define[marker.Project](Type, "informer:project", "a projection: a type with some of the fields, with its own informer and lister"),
}

// foreign are other tools' names that look like misspellings of ours.
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

// renamed are former names in code-generator, with their replacements.
var renamed = map[string]string{
	"nonNamespaced": "genclient:nonNamespaced",
	"noMethods":     "genclient:noVerbs",
	"readonly":      "genclient:readonly",
}
