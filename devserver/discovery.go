// SPDX-License-Identifier: Apache-2.0

package devserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apiextensions-apiserver/pkg/apiserver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	genericapiserver "k8s.io/apiserver/pkg/server"
)

// discovery serves /apis and /api, like the aggregator of a cluster. The API server of CRDs serves
// only pages for its groups and versions.
type discovery struct {
	apis, api atomic.Pointer[http.Handler] // nil until serve
}

const aggregatedJSON = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// serve starts answering with the groups of api, and with core if set.
func (d *discovery) serve(api *genericapiserver.GenericAPIServer, core bool) {
	groups := api.AggregatedDiscoveryGroupManager
	list := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, err := groupList(groups, r)
		if err != nil {
			responsewriters.ErrorNegotiated(err, apiserver.Codecs, schema.GroupVersion{}, w, r)
			return
		}
		writeNegotiated(w, r, answer)
	})
	var apis http.Handler = aggregated.WrapAggregatedDiscoveryToHandler(list, groups, groups)

	legacy, served := api.AggregatedLegacyDiscoveryGroupManager, []string{}
	if core {
		served = []string{"v1"}
	}
	versions := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		writeNegotiated(w, r, &metav1.APIVersions{Versions: served})
	})
	var old http.Handler = aggregated.WrapAggregatedDiscoveryToHandler(versions, legacy, legacy)

	d.apis.Store(&apis)
	d.api.Store(&old)
}

func (d *discovery) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var h *http.Handler
		switch r.URL.Path {
		case "/apis", "/apis/":
			h = d.apis.Load()
		case "/api", "/api/":
			h = d.api.Load()
		}
		if h == nil || r.Method != http.MethodGet {
			next.ServeHTTP(w, r)
			return
		}
		(*h).ServeHTTP(w, r)
	})
}

// groupList makes the old form of /apis from the aggregated one.
func groupList(groups http.Handler, r *http.Request) (*metav1.APIGroupList, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Accept", aggregatedJSON)
	r.Header.Del("If-None-Match")
	r.Header.Del("Accept-Encoding")
	var answer recorder
	groups.ServeHTTP(&answer, r)
	if answer.status != http.StatusOK {
		return nil, fmt.Errorf("aggregated discovery answered with status %d", answer.status)
	}
	var from apidiscoveryv2.APIGroupDiscoveryList
	if err := json.Unmarshal(answer.body.Bytes(), &from); err != nil {
		return nil, fmt.Errorf("read aggregated discovery: %w", err)
	}

	to := &metav1.APIGroupList{Groups: make([]metav1.APIGroup, 0, len(from.Items))}
	for _, item := range from.Items {
		group := metav1.APIGroup{Name: item.Name}
		for _, v := range item.Versions {
			gv := schema.GroupVersion{Group: item.Name, Version: v.Version}
			group.Versions = append(group.Versions, metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: v.Version})
		}
		if len(group.Versions) == 0 {
			continue
		}
		group.PreferredVersion = group.Versions[0]
		to.Groups = append(to.Groups, group)
	}
	return to, nil
}

func writeNegotiated(w http.ResponseWriter, r *http.Request, obj runtime.Object) {
	responsewriters.WriteObjectNegotiated(apiserver.Codecs, negotiation.DefaultEndpointRestrictions,
		schema.GroupVersion{Version: "v1"}, w, r, http.StatusOK, obj, false)
}

type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header {
	if r.header == nil {
		r.header = http.Header{}
	}
	return r.header
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(p)
}
