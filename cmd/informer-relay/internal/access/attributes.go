// SPDX-License-Identifier: Apache-2.0

package access

import (
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/server/serve"
)

// MetricsPath is the path of the relay's metrics. Its readers are authorized like readers of an API
// server's metrics.
const MetricsPath = "/metrics"

func reviewAttributes(a serve.Attributes) (*authorizationv1.ResourceAttributes, *authorizationv1.NonResourceAttributes) {
	if a.Path != "" {
		return nil, &authorizationv1.NonResourceAttributes{Path: a.Path, Verb: a.Verb}
	}
	attributes := &authorizationv1.ResourceAttributes{
		Verb: a.Verb, Group: a.Resource.Group, Version: a.Resource.Version, Resource: a.Resource.Resource,
		Subresource: a.Subresource, Namespace: namespaceOf(a), Name: a.Name,
	}
	// A malformed selector restricts nothing, so ask for the right to everything. The API server
	// would call its answer to such a selector an error.
	if _, err := labels.Parse(a.LabelSelector); err == nil && a.LabelSelector != "" {
		attributes.LabelSelector = &authorizationv1.LabelSelectorAttributes{RawSelector: a.LabelSelector}
	}
	if _, err := fields.ParseSelector(a.FieldSelector); err == nil && a.FieldSelector != "" {
		attributes.FieldSelector = &authorizationv1.FieldSelectorAttributes{RawSelector: a.FieldSelector}
	}
	return attributes, nil
}

// namespaceOf returns the namespace whose rights count. As in an API server, a namespace is in
// itself, except for lists and watches, which select it by name.
func namespaceOf(a serve.Attributes) string {
	if a.Resource.Group == "" && a.Resource.Resource == "namespaces" && a.Verb != "list" && a.Verb != "watch" {
		return a.Name
	}
	return a.Namespace
}
