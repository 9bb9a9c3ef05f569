// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/informer-gen/informer-gen/internal/request"
)

type document struct {
	path   string
	format request.Format
}

func discoveryOf(resources []Resource) map[document][]byte {
	answers := map[document][]byte{}
	add := func(path string, format request.Format, answer any) {
		data, err := json.Marshal(answer)
		if err != nil {
			panic(err) // structs of strings can be encoded
		}
		answers[document{path, format}] = append(data, '\n')
	}

	byVersion := map[schema.GroupVersion][]metav1.APIResource{}
	byName := map[string][]metav1.APIResource{} // keyed by group/version
	for _, r := range resources {
		gv := r.GroupVersion()
		byVersion[gv] = append(byVersion[gv], metav1.APIResource{
			Name: r.Resource, SingularName: cmp.Or(r.Singular, strings.ToLower(r.Kind)), ShortNames: r.ShortNames,
			Namespaced: r.Namespaced, Kind: r.Kind, Verbs: verbsOf(r),
		})
		byName[gv.String()] = byVersion[gv]
	}
	var core, groups []metav1.APIGroup
	versions := metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{}}
	for _, gv := range slices.SortedFunc(maps.Keys(byVersion), compareVersions) {
		path := "/apis/" + gv.String()
		if gv.Group == "" {
			path = "/api/" + gv.Version
			core = addVersion(core, gv)
			versions.Versions = append(versions.Versions, gv.Version)
		} else {
			groups = addVersion(groups, gv)
		}
		add(path, request.JSON, metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv.String(), APIResources: byVersion[gv],
		})
	}
	list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{}}
	for _, group := range groups {
		list.Groups = append(list.Groups, group)
		group.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
		add("/apis/"+group.Name, request.JSON, group)
	}
	add("/api", request.JSON, versions)
	add("/apis", request.JSON, list)
	add("/api", aggregatedType, aggregate(core, byName))
	add("/apis", aggregatedType, aggregate(groups, byName))
	add("/version", request.JSON, version.Info{Major: major, Minor: minor, GitVersion: "v" + major + "." + minor + ".0", Platform: runtime.GOOS + "/" + runtime.GOARCH, GoVersion: runtime.Version(), Compiler: runtime.Compiler})
	return answers
}

// major and minor are the Kubernetes version imitated by a [Handler].
const major, minor = "1", "37"

func verbsOf(r Resource) metav1.Verbs {
	switch {
	case r.Upstream != nil:
		return metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	case r.Writer != nil:
		return metav1.Verbs{"create", "delete", "get", "list", "update", "watch"}
	}
	return metav1.Verbs{"get", "list", "watch"}
}

// compareVersions orders by group name, then by preference: v2 before v1, v1 before v1beta1.
func compareVersions(a, b schema.GroupVersion) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), -version.CompareKubeAwareVersionStrings(a.Version, b.Version))
}

func addVersion(groups []metav1.APIGroup, gv schema.GroupVersion) []metav1.APIGroup {
	v := metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: gv.Version}
	if n := len(groups) - 1; n >= 0 && groups[n].Name == gv.Group {
		groups[n].Versions = append(groups[n].Versions, v)
		return groups
	}
	return append(groups, metav1.APIGroup{Name: gv.Group, Versions: []metav1.GroupVersionForDiscovery{v}, PreferredVersion: v})
}

func (h *Handler) serveDiscovery(w http.ResponseWriter, req *http.Request) {
	path := "/" + strings.Trim(req.URL.Path, "/")
	format := request.JSON
	if _, ok := h.discovery[document{path, aggregatedType}]; ok {
		w.Header().Add("Vary", "Accept")
		format = request.Prefer(req.Header.Get("Accept"), request.JSON, aggregatedType)
	}
	answer, ok := h.discovery[document{path, format}]
	if !ok || req.Method != http.MethodGet && req.Method != http.MethodHead {
		http.NotFound(w, req)
		return
	}
	h.writeAll(w, http.StatusOK, format, answer, false)
}
