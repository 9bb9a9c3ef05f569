// SPDX-License-Identifier: Apache-2.0

package devserver_test

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/informer-gen/informer-gen/devserver"
)

func TestInstallCRDsTwice(t *testing.T) {
	t.Parallel()
	s := start(t, devserver.Options{})
	if err := devserver.InstallCRDs(t.Context(), s.Config(), boatCRD()); err != nil {
		t.Fatal(err)
	}
	// Each round adds a field; a server that doesn't know it yet would prune it.
	fields := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	for i, name := range fields {
		crd := boatCRD(fields[:i+1]...)
		crd.Labels = map[string]string{"round": name}
		if err := devserver.InstallCRDs(t.Context(), s.Config(), crd); err != nil {
			t.Fatal(err)
		}
		b := boat("boat-"+name, "x")
		setField(t, b, "kept", "spec", name)
		b, err := client(t, s).Resource(boats).Namespace("default").Create(t.Context(), b, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := field(b, "spec", name); got != "kept" {
			t.Fatalf("round %d: the new field was pruned", i)
		}
	}
}

func TestInstallCRDsVersions(t *testing.T) {
	t.Parallel()
	s := start(t, devserver.Options{})
	crd := boatCRD()
	second, unserved := *crd.Spec.Versions[0].DeepCopy(), *crd.Spec.Versions[0].DeepCopy()
	second.Name, second.Storage = "v2", false
	unserved.Name, unserved.Storage, unserved.Served = "v0", false, false
	crd.Spec.Versions = append(crd.Spec.Versions, second, unserved)
	if err := s.InstallCRDs(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	create(t, s, "one", "a")
	v2, v0 := boats.GroupResource().WithVersion("v2"), boats.GroupResource().WithVersion("v0")
	if b, err := client(t, s).Resource(v2).Namespace("default").Get(t.Context(), "one", metav1.GetOptions{}); err != nil || b.GetAPIVersion() != "harbour.example.com/v2" {
		t.Errorf("Get at v2: %v, %v", b, err)
	}
	if _, err := client(t, s).Resource(v0).List(t.Context(), metav1.ListOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a list at a version that isn't served returns %v, want NotFound", err)
	}
}

func TestInstallCRDsErrors(t *testing.T) {
	t.Parallel()
	s := start(t, devserver.Options{CRDs: crds{boatCRD()}})
	rival := boatCRD()
	rival.Name, rival.Spec.Names.Plural = "ships.harbour.example.com", "ships"
	err := s.InstallCRDs(t.Context(), rival)
	if err == nil || !strings.Contains(err.Error(), "install CRD ships.harbour.example.com: the names are not accepted") {
		t.Errorf("a CRD with another one's kind returns %v", err)
	}
	moved := boatCRD()
	moved.Spec.Scope = apiextensionsv1.ClusterScoped
	if err := s.InstallCRDs(t.Context(), moved); !apierrors.IsInvalid(err) {
		t.Errorf("a change of scope returns %v, want Invalid", err)
	}
	if err := devserver.InstallCRDs(t.Context(), nil, boatCRD()); err == nil {
		t.Error("a nil config returns no error")
	}
	if err := devserver.InstallCRDs(t.Context(), nil); err != nil {
		t.Errorf("no CRDs return %v", err)
	}

	var status atomic.Int32
	refusing := start(t, devserver.Options{WrapHandler: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/boats") { // not the CRD
				http.Error(w, "come back later", int(status.Load()))
				return
			}
			next.ServeHTTP(w, r)
		})
	}})
	status.Store(http.StatusForbidden)
	err = devserver.InstallCRDs(t.Context(), refusing.Config(), boatCRD())
	if err == nil || !strings.Contains(err.Error(), "wait for CRD boats.harbour.example.com to be served at v1: GET") || !strings.Contains(err.Error(), "403") {
		t.Errorf("a CRD whose objects may not be listed returns %v", err)
	}
	status.Store(http.StatusServiceUnavailable)
	reason := errors.New("long enough")
	ctx, cancel := context.WithTimeoutCause(t.Context(), patience/30, reason)
	defer cancel()
	err = devserver.InstallCRDs(ctx, refusing.Config(), boatCRD())
	if !errors.Is(err, reason) || !strings.Contains(err.Error(), "come back later") {
		t.Errorf("a CRD that isn't served returns %v, want the reason and the last answer", err)
	}
}

func yamlOf(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) string {
	t.Helper()
	crd.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	text, err := yaml.Marshal(crd)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestReadCRDs(t *testing.T) {
	t.Parallel()
	ships := boatCRD()
	ships.Name = "ships.harbour.example.com"
	ships.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Plural: "ships", Kind: "Ship"}
	fsys := fstest.MapFS{
		"crd/b.yaml":             {Data: []byte("---\n# only a comment\n---\n" + yamlOf(t, boatCRD()) + "---\n")},
		"crd/deep/a.yml":         {Data: []byte(yamlOf(t, ships))},
		"crd/kustomization.yaml": {Data: []byte("kind: Kustomization\nresources: [b.yaml]\n")},
		"crd/README.md":          {Data: []byte("not: [yaml")},
	}
	found, err := devserver.ReadCRDs(fsys)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, crd := range found {
		got = append(got, crd.Name)
	}
	if want := "boats.harbour.example.com ships.harbour.example.com"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	s := start(t, devserver.Options{CRDs: found})
	create(t, s, "one", "a")
}

func TestReadCRDsErrors(t *testing.T) {
	t.Parallel()
	good := yamlOf(t, boatCRD())
	for name, test := range map[string]struct{ text, want string }{
		"unknown field": {good + "---\n" + strings.Replace(good, "  scope:", "  scoop: x\n  scope:", 1), `x.yaml: document 2: error unmarshaling JSON: while decoding JSON: json: unknown field "scoop"`},
		"field twice":   {strings.Replace(good, "  scope:", "  scope: Cluster\n  scope:", 1), "x.yaml: document 1: "},
		"not YAML":      {"a: [", "x.yaml: document 1: "},
		"other kind":    {good + "---\napiVersion: v1\nkind: Service\n", `x.yaml: document 2: not a CustomResourceDefinition of apiextensions.k8s.io/v1, but kind "Service" of apiVersion "v1"`},
		"old version":   {strings.Replace(good, "apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1", 1), "x.yaml: document 1: apiVersion apiextensions.k8s.io/v1beta1 is no longer served"},
		"no name":       {"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n", "x.yaml: document 1: the CRD has no metadata.name"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := devserver.ReadCRDs(fstest.MapFS{"x.yaml": {Data: []byte(test.text)}}, "x.yaml")
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is\n%v\nwant\n%s", err, test.want)
			}
			if _, err := devserver.ParseCRDs("x.yaml", []byte(test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("ParseCRDs's error is\n%v\nwant\n%s", err, test.want)
			}
		})
	}
	if _, err := devserver.ReadCRDs(fstest.MapFS{}, "absent.yaml"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that isn't there returns %v", err)
	}
}
