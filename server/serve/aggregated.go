// SPDX-License-Identifier: Apache-2.0

package serve

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/internal/request"
)

// aggregatedType is the media type of aggregated discovery: one document for /api and one for
// /apis.
const aggregatedType request.Format = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// The following types copy the needed parts of k8s.io/api/apidiscovery/v2. That module is too large
// for five structs.

type discoveryList struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        struct{}         `json:"metadata"`
	Items           []groupDiscovery `json:"items"`
}

type groupDiscovery struct {
	Metadata groupMetadata      `json:"metadata"`
	Versions []versionDiscovery `json:"versions"`
}

type groupMetadata struct {
	Name string `json:"name,omitempty"`
}

type versionDiscovery struct {
	Version   string              `json:"version"`
	Resources []resourceDiscovery `json:"resources"`
	Freshness string              `json:"freshness"`
}

type resourceDiscovery struct {
	Resource         string                  `json:"resource"`
	ResponseKind     metav1.GroupVersionKind `json:"responseKind"`
	Scope            string                  `json:"scope"`
	SingularResource string                  `json:"singularResource"`
	ShortNames       []string                `json:"shortNames,omitempty"`
	Verbs            []string                `json:"verbs"`
}

// aggregate returns groups as one document. Versions of a group are in order of preference;
// resources is keyed by version.
func aggregate(groups []metav1.APIGroup, resources map[string][]metav1.APIResource) discoveryList {
	list := discoveryList{
		TypeMeta: metav1.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/v2"},
		Items:    []groupDiscovery{},
	}
	for _, group := range groups {
		item := groupDiscovery{Metadata: groupMetadata{group.Name}}
		for _, v := range group.Versions {
			version := versionDiscovery{Version: v.Version, Freshness: "Current"}
			for _, r := range resources[v.GroupVersion] {
				version.Resources = append(version.Resources, describe(r, group.Name, v.Version))
			}
			item.Versions = append(item.Versions, version)
		}
		list.Items = append(list.Items, item)
	}
	return list
}

func describe(r metav1.APIResource, group, version string) resourceDiscovery {
	scope := "Cluster"
	if r.Namespaced {
		scope = "Namespaced"
	}
	return resourceDiscovery{
		Resource: r.Name, SingularResource: r.SingularName, ShortNames: r.ShortNames, Scope: scope, Verbs: r.Verbs,
		ResponseKind: metav1.GroupVersionKind{Group: group, Version: version, Kind: r.Kind},
	}
}
