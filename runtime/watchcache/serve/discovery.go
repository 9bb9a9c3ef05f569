// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// discoveryOf returns the answers to discovery, by path: which groups, versions and resources there
// are. It is the form that all clients know, one document a group and version.
func discoveryOf(resources []Resource) map[string][]byte {
	answers := map[string][]byte{}
	add := func(path string, answer any) {
		data, err := json.Marshal(answer)
		if err != nil {
			panic(err) // structs of strings have JSON
		}
		answers[path] = append(data, '\n')
	}

	byVersion := map[schema.GroupVersion][]metav1.APIResource{}
	for _, r := range resources {
		byVersion[r.GroupVersion()] = append(byVersion[r.GroupVersion()], metav1.APIResource{
			Name: r.Resource, SingularName: cmp.Or(r.Singular, strings.ToLower(r.Kind)), ShortNames: r.ShortNames,
			Namespaced: r.Namespaced, Kind: r.Kind, Verbs: metav1.Verbs{"get", "list", "watch"},
		})
	}
	core := metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{}}
	groups := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{}}
	for _, gv := range slices.SortedFunc(maps.Keys(byVersion), compareVersions) {
		path := "/apis/" + gv.String()
		if gv.Group == "" {
			path = "/api/" + gv.Version
			core.Versions = append(core.Versions, gv.Version)
		} else {
			groups.Groups = addVersion(groups.Groups, gv)
		}
		add(path, metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv.String(), APIResources: byVersion[gv],
		})
	}
	for _, group := range groups.Groups {
		group.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
		add("/apis/"+group.Name, group)
	}
	add("/api", core)
	add("/apis", groups)
	return answers
}

// compareVersions orders groups by name, and puts the version that clients should prefer first: v2
// before v1, v1 before v1beta1.
func compareVersions(a, b schema.GroupVersion) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), -version.CompareKubeAwareVersionStrings(a.Version, b.Version))
}

// addVersion adds a version to the last of groups if it is of that group, else to a new one.
func addVersion(groups []metav1.APIGroup, gv schema.GroupVersion) []metav1.APIGroup {
	v := metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: gv.Version}
	if n := len(groups) - 1; n >= 0 && groups[n].Name == gv.Group {
		groups[n].Versions = append(groups[n].Versions, v)
		return groups
	}
	return append(groups, metav1.APIGroup{Name: gv.Group, Versions: []metav1.GroupVersionForDiscovery{v}, PreferredVersion: v})
}

// serveDiscovery answers a request for a path of no resource.
func (h *Handler) serveDiscovery(w http.ResponseWriter, req *http.Request) {
	answer, ok := h.discovery["/"+strings.Trim(req.URL.Path, "/")]
	if !ok || req.Method != http.MethodGet && req.Method != http.MethodHead {
		http.NotFound(w, req)
		return
	}
	h.writeAll(w, answer, false)
}
