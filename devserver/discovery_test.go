// SPDX-License-Identifier: Apache-2.0

package devserver_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/informer-gen/informer-gen/devserver"
)

func TestDiscoveryInBothForms(t *testing.T) {
	t.Parallel()
	s := start(t, devserver.Options{CRDs: crds{boatCRD()}})
	for _, legacy := range []bool{false, true} {
		c, err := discovery.NewDiscoveryClientForConfig(s.Config())
		if err != nil {
			t.Fatal(err)
		}
		c.UseLegacyDiscovery = legacy
		groups, resources, err := c.ServerGroupsAndResources()
		if err != nil {
			t.Fatalf("legacy=%v: %v", legacy, err)
		}
		var got []string
		for _, g := range groups {
			// the old form of an empty /api is read as a group without versions
			if len(g.Versions) > 0 {
				got = append(got, g.PreferredVersion.GroupVersion)
			}
		}
		slices.Sort(got)
		if want := []string{"apiextensions.k8s.io/v1", "harbour.example.com/v1"}; !slices.Equal(got, want) {
			t.Errorf("legacy=%v: the groups are %v, want %v", legacy, got, want)
		}
		var kinds []string
		for _, list := range resources {
			for _, r := range list.APIResources {
				kinds = append(kinds, list.GroupVersion+" "+r.Name+" "+r.Kind)
			}
		}
		for _, want := range []string{
			"harbour.example.com/v1 boats Boat",
			"harbour.example.com/v1 boats/status Boat",
			"apiextensions.k8s.io/v1 customresourcedefinitions CustomResourceDefinition",
		} {
			if !slices.Contains(kinds, want) {
				t.Errorf("legacy=%v: the resources %q lack %q", legacy, kinds, want)
			}
		}
	}
}

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

func TestKubeconfigLeadsToTheServer(t *testing.T) {
	t.Parallel()
	s := start(t, devserver.Options{})
	text, err := s.Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(text)
	if err != nil {
		t.Fatal(err)
	}
	c, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.ServerVersion(); err != nil {
		t.Error(err)
	}
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
