// SPDX-License-Identifier: Apache-2.0

package devservertest_test

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/devserver/devservertest"
)

// kiteFiles are the files of a kubebuilder project that concern webhooks, and some that don't.
var kiteFiles = map[string]string{
	"config/crd/bases/sky.example.com_kites.yaml": `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: kites.sky.example.com}
spec:
  group: sky.example.com
  names: {kind: Kite, plural: kites}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: &any {type: object, x-kubernetes-preserve-unknown-fields: true}}}
  - {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: *any}}
`,
	"config/crd/patches/webhook_in_kites.yaml": `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: kites.sky.example.com}
spec:
  conversion:
    strategy: Webhook
    webhook:
      clientConfig: {service: {namespace: system, name: webhook-service, path: /convert}}
      conversionReviewVersions: [v1]
`,
	"config/crd/patches/cainjection_in_kites.yaml": `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: kites.sky.example.com, annotations: {cert-manager.io/inject-ca-from: a/b}}
`,
	"config/crd/kustomization.yaml":  "resources: [bases/sky.example.com_kites.yaml]\n",
	"config/webhook/service.yaml":    "apiVersion: v1\nkind: Service\nmetadata: {name: webhook-service}\n",
	"config/webhook/manifests.yaml":  configuration("Mutating", "/mutate") + "---\n" + configuration("Validating", "/validate"),
	"config/webhook/kustomizeconfig": "no YAML: {",
}

func configuration(what, path string) string {
	return `apiVersion: admissionregistration.k8s.io/v1
kind: ` + what + `WebhookConfiguration
metadata: {name: kites}
webhooks:
- name: ` + strings.ToLower(what) + `.sky.example.com
  clientConfig: {service: {namespace: system, name: webhook-service, path: ` + path + `}}
  admissionReviewVersions: [v1]
  sideEffects: None
  rules: [{apiGroups: [sky.example.com], apiVersions: [v1], operations: [CREATE], resources: [kites]}]
`
}

func writeFiles(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// serveKites answers the three webhooks of kiteFiles.
func serveKites(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if r.URL.Path == "/convert" {
		var review apiextensionsv1.ConversionReview
		if err := json.Unmarshal(body, &review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		review.Response = &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
		for _, one := range review.Request.Objects {
			from, to := fmt.Sprintf("%q", "sky.example.com/v1"), fmt.Sprintf("%q", review.Request.DesiredAPIVersion)
			text := strings.Replace(string(one.Raw), from, to, 1)
			text = strings.Replace(text, `"spec":{`, `"spec":{"converted":true,`, 1)
			review.Response.ConvertedObjects = append(review.Response.ConvertedObjects, runtime.RawExtension{Raw: []byte(text)})
		}
		_ = json.NewEncoder(w).Encode(review)
		return
	}
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal(body, &review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	switch r.URL.Path {
	case "/mutate":
		review.Response.Patch, review.Response.PatchType = []byte(`[{"op":"add","path":"/spec/tail","value":"long"}]`), new(admissionv1.PatchTypeJSONPatch)
	case "/validate":
		review.Response.Allowed = review.Request.Name != "lead"
		review.Response.Result = &metav1.Status{Message: "too heavy to fly"}
	}
	_ = json.NewEncoder(w).Encode(review)
}

// serve serves with the certificate that is in the folder at the time of a handshake.
func serve(t *testing.T, hooks *devservertest.Webhooks) {
	t.Helper()
	config := &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		cert, err := tls.LoadX509KeyPair(filepath.Join(hooks.CertDir, "tls.crt"), filepath.Join(hooks.CertDir, "tls.key"))
		return &cert, err
	}}
	listener, err := tls.Listen("tcp", net.JoinHostPort(hooks.Host, strconv.Itoa(hooks.Port)), config)
	if err != nil {
		t.Fatal(err)
	}
	server, ended := &http.Server{Handler: http.HandlerFunc(serveKites)}, make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-ended
	})
}

func kites(t *testing.T, server *devserver.Server, version string) dynamic.ResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	return client.Resource(schema.GroupVersionResource{Group: "sky.example.com", Version: version, Resource: "kites"}).Namespace("default")
}

func kite(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "sky.example.com/v1", "kind": "Kite", "metadata": map[string]any{"name": name}, "spec": map[string]any{},
	}}
}

func TestInstallWebhooks(t *testing.T) {
	server := devservertest.New(t)
	t.Run("test with webhooks", func(t *testing.T) {
		t.Chdir(writeFiles(t, kiteFiles))
		hooks := devservertest.InstallWebhooks(t, server, "config/crd", "config/webhook")
		serve(t, hooks)

		red, err := kites(t, server, "v1").Create(t.Context(), kite("red"), metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if tail, _, _ := unstructured.NestedString(red.Object, "spec", "tail"); tail != "long" {
			t.Errorf("created %v, want a long tail", red)
		}
		_, err = kites(t, server, "v1").Create(t.Context(), kite("lead"), metav1.CreateOptions{})
		if err == nil || !strings.HasSuffix(err.Error(), `"validating.sky.example.com" denied the request: too heavy to fly`) {
			t.Errorf("creating the kite lead returns %v, want a refusal", err)
		}
		red, err = kites(t, server, "v1beta1").Get(t.Context(), "red", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if converted, _, _ := unstructured.NestedBool(red.Object, "spec", "converted"); !converted {
			t.Errorf("as v1beta1 it is %v, want it converted", red)
		}
	})
	client, err := kubernetes.NewForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	mutating, err := client.AdmissionregistrationV1().MutatingWebhookConfigurations().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(mutating.Items) != 0 {
		t.Errorf("after the test there are %v, %v", mutating, err)
	}
	validating, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(validating.Items) != 0 {
		t.Errorf("after the test there are %v, %v", validating, err)
	}
}

func TestRenewCertificate(t *testing.T) {
	t.Chdir(writeFiles(t, map[string]string{"crd.yaml": crd}))
	hooks := devservertest.InstallWebhooks(t, devservertest.Start(t, devserver.Options{}), ".")
	load := func() *tls.Certificate {
		cert, err := tls.LoadX509KeyPair(filepath.Join(hooks.CertDir, "tls.crt"), filepath.Join(hooks.CertDir, "tls.key"))
		if err != nil {
			t.Fatal(err)
		}
		return &cert
	}
	before := load()
	hooks.RenewCertificate(t)
	if after := load(); after.Leaf.Equal(before.Leaf) || string(after.Leaf.RawIssuer) != string(before.Leaf.RawIssuer) {
		t.Errorf("the certificate %v replaces %v", after.Leaf, before.Leaf)
	}
}

func TestInstallWebhooksFailsTheTest(t *testing.T) {
	server := devservertest.Start(t, devserver.Options{})
	for name, test := range map[string]struct {
		files map[string]string // beside those of a valid project
		paths []string
		want  []string
	}{
		"no such folder":  {nil, []string{"config/webhooks"}, []string{"config/webhooks: no such file"}},
		"nothing to find": {map[string]string{"a/a.yaml": "kind: Service"}, []string{"a"}, []string{"of a: there are neither webhook configurations nor CRDs"}},
		"all at once": {
			map[string]string{
				"bad/a.yaml": strings.Replace(configuration("Mutating", "/"), "/v1\n", "/v1beta1\n", 1) + "---\n" + strings.Replace(configuration("Validating", "/"), "{name: kites}", "{}", 1),
				"bad/b.yaml": strings.Replace(configuration("Mutating", "/"), "sideEffects", "sideEffect", 1),
				"bad/c.yaml": "kind: {",
			},
			[]string{"bad", "config/crd/patches"},
			[]string{
				`bad/a.yaml: document 1: apiVersion "admissionregistration.k8s.io/v1beta1" is not served; write the MutatingWebhookConfiguration as admissionregistration.k8s.io/v1`,
				"bad/a.yaml: document 2: the ValidatingWebhookConfiguration has no metadata.name",
				`bad/b.yaml: document 1: error unmarshaling JSON: while decoding JSON: json: unknown field "sideEffect"`,
				"bad/c.yaml: document 1: ",
				"CRD kites.sky.example.com has no versions, so it is a patch, but no file has the CRD; name its folder too",
			},
		},
		"no built-in kinds": {nil, []string{"config/webhook"}, []string{"kites: the server has no webhook configurations; start it with Options.BuiltInKinds"}},
	} {
		t.Run(name, func(t *testing.T) {
			files := maps.Clone(kiteFiles)
			maps.Copy(files, test.files)
			t.Chdir(writeFiles(t, files))
			fake, done := &failing{TB: t}, make(chan struct{})
			go func() { // Fatalf ends its goroutine
				defer close(done)
				devservertest.InstallWebhooks(fake, server, test.paths...)
			}()
			<-done
			for _, want := range append(test.want, "devservertest: ") {
				if !strings.Contains(filepath.ToSlash(fake.message), want) {
					t.Errorf("the test fails with\n%s\nwhich doesn't contain\n%s", fake.message, want)
				}
			}
		})
	}
}
