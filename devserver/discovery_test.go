// SPDX-License-Identifier: Apache-2.0

package devserver_test

import (
	"encoding/json"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/restmapper"

	"github.com/informer-gen/informer-gen/devserver"
)

func TestDiscoveryFollowsCRDs(t *testing.T) {
	t.Parallel()
	s := start(t, devserver.Options{})
	c, err := discovery.NewDiscoveryClientForConfig(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c))
	kind := schema.GroupKind{Group: boats.Group, Kind: "Boat"}
	if _, err := mapper.RESTMapping(kind); err == nil {
		t.Fatal("the kind is known before its CRD is installed")
	}
	if err := devserver.InstallCRDs(t.Context(), s.Config(), boatCRD()); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		mapper.Reset()
		_, err := mapper.RESTMapping(kind)
		return err
	})
	mapping, err := mapper.RESTMapping(kind)
	if err != nil || mapping.Resource != boats || mapping.Scope.Name() != "namespace" {
		t.Errorf("the mapping is %+v, %v", mapping, err)
	}
}

func TestVersionAndOpenAPI(t *testing.T) {
	t.Parallel()
	s := start(t, devserver.Options{CRDs: crds{boatCRD()}})
	c, err := discovery.NewDiscoveryClientForConfig(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	version, err := c.ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	if version.Major != "1" || version.Minor < "37" {
		t.Errorf("the server's version is %+v", version)
	}
	if _, err := utilversion.ParseSemantic(version.GitVersion); err != nil {
		t.Error(err)
	}
	eventually(t, func() error {
		_, err := openAPIV3(c)
		return err
	})
	text, err := openAPIV3(c)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "Boat is something that has a berth.") {
		t.Errorf("OpenAPI v3 lacks the CRD's description:\n%.500s", text)
	}
	eventually(t, func() error {
		doc, err := c.OpenAPISchema()
		if err != nil {
			return err
		}
		if !strings.Contains(doc.String(), "com.example.harbour.v1.Boat") {
			return errNotYet
		}
		return nil
	})
}

func openAPIV3(c *discovery.DiscoveryClient) (string, error) {
	paths, err := c.OpenAPIV3().Paths()
	if err != nil {
		return "", err
	}
	group, ok := paths["apis/harbour.example.com/v1"]
	if !ok {
		return "", errNotYet
	}
	text, err := group.Schema("application/json")
	return string(text), err
}

// The pages are asked for by hand, with what clients of all ages send as Accept.
func TestRootPages(t *testing.T) {
	t.Parallel()
	s := start(t, devserver.Options{CRDs: crds{boatCRD()}})
	for _, test := range []struct{ path, accept, want string }{
		{"/apis", "", "APIGroupList"},
		{"/apis/", "application/json", "APIGroupList"},
		{"/apis", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", "APIGroupDiscoveryList"},
		{"/apis", "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json", "APIGroupList"},
		{"/apis/harbour.example.com", "", "APIGroup"},
		{"/apis/harbour.example.com/v1", "", "APIResourceList"},
		{"/api", "", "APIVersions"},
		{"/api", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", "APIGroupDiscoveryList"},
	} {
		var kind metav1.TypeMeta
		if err := json.Unmarshal(get(t, s.URL()+test.path, test.accept), &kind); err != nil || kind.Kind != test.want {
			t.Errorf("%s with Accept %q is a %s (%v), want %s", test.path, test.accept, kind.Kind, err, test.want)
		}
	}
}
