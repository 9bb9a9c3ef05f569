// SPDX-License-Identifier: Apache-2.0

package access

import (
	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/informer-gen/informer-gen/runtime/watchcache/serve"
)

// MetricsPath is the path of the relay's metrics, whose readers are authorized like those of API
// servers' metrics.
const MetricsPath = "/metrics"

// forReview returns the attributes in the form of reviews: those of a resource or of a path.
func forReview(a serve.Attributes) (*authorizationv1.ResourceAttributes, *authorizationv1.NonResourceAttributes) {
	if a.Path != "" {
		return nil, &authorizationv1.NonResourceAttributes{Path: a.Path, Verb: a.Verb}
	}
	attributes := &authorizationv1.ResourceAttributes{
		Verb: a.Verb, Group: a.Resource.Group, Version: a.Resource.Version, Resource: a.Resource.Resource,
		Subresource: a.Subresource, Namespace: namespaceOf(a), Name: a.Name,
	}
	if a.LabelSelector != "" {
		attributes.LabelSelector = &authorizationv1.LabelSelectorAttributes{RawSelector: a.LabelSelector}
	}
	if a.FieldSelector != "" {
		attributes.FieldSelector = &authorizationv1.FieldSelectorAttributes{RawSelector: a.FieldSelector}
	}
	return attributes, nil
}

// namespaceOf returns the namespace whose rights count. As in an API server, the one that a get of
// a namespace names is its own.
func namespaceOf(a serve.Attributes) string {
	if a.Resource.Group == "" && a.Resource.Resource == "namespaces" && a.Verb == "get" {
		return a.Name
	}
	return a.Namespace
}
