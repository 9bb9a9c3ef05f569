// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// project is a module with API types, and with informers made by code-generator.
type project struct {
	name      string   // also of the folders in testdata and below _work
	module    string   // the path of the module with the types
	inputs    []string // the patterns for init
	informers string   // the package of the project's own factory
	clients   string   // the parent of the packages of its typed clients
	crds      string   // the folder of the CRDs in the module, or ""
	server    bool     // the tests need the devserver
	samples   string   // the folder of serialized objects in the module, or ""

	// Intended differences.
	folders map[string]string // names of groups' folders: theirs to ours
	// plurals that a REST mapper doesn't guess from the kind
	irregular  map[string]string
	withoutCRD []schema.GroupVersionResource // versions with an informer, missing in the CRD

	mutations []mutation // errors that the comparisons must find
}

var projects = []project{{
	name:      "kubernetes",
	module:    "k8s.io/api",
	inputs:    []string{"k8s.io/api/..."},
	informers: "k8s.io/client-go/informers",
	clients:   "k8s.io/client-go/kubernetes/typed",
	samples:   "testdata/HEAD",
	// Theirs are named after the folder with the types, ours after the accessor, Internal(). Go
	// would let no other package import a folder named internal.
	folders:   map[string]string{"apiserverinternal": "internalapi"},
	mutations: []mutation{{`Group: "rbac.authorization.k8s.io"`, `Group: "rbac"`, "there is no object rbac.v1.Role"}},
}, {
	name:      "aggregator",
	module:    "k8s.io/kube-aggregator",
	inputs:    []string{"k8s.io/kube-aggregator/pkg/apis/..."},
	informers: "k8s.io/kube-aggregator/pkg/client/informers/externalversions",
	clients:   "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset/typed",
}, {
	name:      "apiextensions",
	module:    "k8s.io/apiextensions-apiserver",
	inputs:    []string{"k8s.io/apiextensions-apiserver/pkg/apis/..."},
	informers: "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions",
	clients:   "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed",
	server:    true,
}, {
	name:      "gatewayapi",
	module:    "sigs.k8s.io/gateway-api",
	inputs:    []string{"sigs.k8s.io/gateway-api/apis/...", "sigs.k8s.io/gateway-api/apisx/..."},
	informers: "sigs.k8s.io/gateway-api/pkg/client/informers/externalversions",
	clients:   "sigs.k8s.io/gateway-api/pkg/client/clientset/versioned/typed",
	server:    true,
	crds:      "config/crd/experimental", // has all types; the standard channel has some of them
	folders:   map[string]string{"apis": "gateway", "apisx": "experimental"},
	irregular: map[string]string{"Gateway": "gateways", "XMesh": "xmeshes"}, // gatewaies, xmeshs
	withoutCRD: []schema.GroupVersionResource{ // +kubebuilder:skipversion
		{Group: "gateway.networking.k8s.io", Version: "v1alpha2", Resource: "grpcroutes"},
		{Group: "gateway.networking.k8s.io", Version: "v1alpha2", Resource: "referencegrants"},
	},
}, {
	name:      "certmanager",
	module:    "github.com/cert-manager/cert-manager",
	inputs:    []string{"github.com/cert-manager/cert-manager/pkg/apis/..."},
	informers: "github.com/cert-manager/cert-manager/pkg/client/informers/externalversions",
	clients:   "github.com/cert-manager/cert-manager/pkg/client/clientset/versioned/typed",
	server:    true,
	crds:      "deploy/crds",
	mutations: []mutation{
		{"Orders()", "OrderList()", "OrderLister has the method Orders, and not OrderList"},
		{"Acme()", "ACME()", "Acme().V1().Orders(): we have none"},
		{`Resource: "issuers"`, `Resource: "issuer"`, "Certmanager().V1().Issuers(): the resource is issuer"},
		{`Group: "cert-manager.io"`, `Group: "certmanager.io"`, "cert-manager.io/v1, Resource=issuers: there is a CRD and no informer"},
		{"f.Acme().V1().Orders().Informer()", "f.Acme().V1().Challenges().Informer()", "acme"},
		{"Issuers(namespace string)", "InNamespace(namespace string)", "IssuerLister has the method InNamespace"},
		{"OrderInformer", "TheOrderInformer", "Acme().V1().Orders(): ours is"},
	},
}}

// folder is the folder of the project's tests, requirements and indexes.
func (p project) folder() string { return filepath.Join("testdata", p.name) }

// path returns the path of a file or folder of the project's module, and downloads the module if
// necessary.
func (p project) path(name string) (string, error) {
	cmd := exec.Command("go", "mod", "download", "-json", p.module)
	cmd.Dir, cmd.Env = p.folder(), environment()
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("download %s: %w\n%s", p.module, err, out)
	}
	var downloaded struct{ Dir string }
	if err := json.Unmarshal(out, &downloaded); err != nil {
		return "", fmt.Errorf("download %s: %w", p.module, err)
	}
	return filepath.Join(downloaded.Dir, filepath.FromSlash(name)), nil
}

// environment is the environment of all commands: no workspace, no flags.
func environment() []string {
	return append(os.Environ(), "GOWORK=off", "GOFLAGS=")
}

// definition describes one version of a CustomResourceDefinition.
type definition struct {
	Kind       string
	Namespaced bool
}

// readDefinitions reads the project's CRDs.
func (p project) readDefinitions() (map[schema.GroupVersionResource]definition, error) {
	folder, err := p.path(p.crds)
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return nil, err
	}
	all := map[schema.GroupVersionResource]definition{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
		for {
			document, err := documents.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			var crd struct {
				Kind string
				Spec struct {
					Group, Scope string
					Names        struct{ Kind, Plural string }
					Versions     []struct{ Name string }
				}
			}
			if err == nil {
				err = yaml.Unmarshal(document, &crd)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			if crd.Kind != "CustomResourceDefinition" {
				continue
			}
			for _, version := range crd.Spec.Versions {
				all[schema.GroupVersionResource{Group: crd.Spec.Group, Version: version.Name, Resource: crd.Spec.Names.Plural}] = definition{
					crd.Spec.Names.Kind, crd.Spec.Scope == "Namespaced",
				}
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no CRDs in %s", folder)
	}
	return all, nil
}

// readSamples returns the names of the serialized objects: GROUP.VERSION.KIND.
func (p project) readSamples() (map[string]bool, error) {
	folder, err := p.path(p.samples)
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, err
	}
	all := map[string]bool{}
	for _, file := range files {
		all[strings.TrimSuffix(filepath.Base(file), ".json")] = true
	}
	return all, nil
}
