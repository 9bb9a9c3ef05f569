// SPDX-License-Identifier: Apache-2.0

package devservertest_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-gen/informer-gen/devserver/devservertest"
)

func TestMain(m *testing.M) { devservertest.VerifyTestMain(m) }

const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: kites.sky.example.com}
spec:
  group: sky.example.com
  names: {kind: Kite, plural: kites}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`

func TestNewServesBuiltInKindsAndCRDs(t *testing.T) {
	t.Chdir(t.TempDir())
	folder := filepath.FromSlash("config/crd/bases")
	if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, "kites.yaml"), []byte(crd), 0o600)); err != nil {
		t.Fatal(err)
	}
	var stopped <-chan struct{}
	t.Run("test with a server", func(t *testing.T) {
		server := devservertest.New(t, "config/crd/bases")
		stopped = server.Done()
		t.Cleanup(func() { // registered later, so it runs before the server ends
			select {
			case <-server.Done():
				t.Error("the server ended before a cleanup")
			default:
			}
		})
		client, err := kubernetes.NewForConfig(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Data: map[string]string{"a": "b"}}
		if _, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), cm, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		objects, err := dynamic.NewForConfig(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		kite := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "sky.example.com/v1", "kind": "Kite", "metadata": map[string]any{"name": "red"},
		}}
		kites := objects.Resource(schema.GroupVersionResource{Group: "sky.example.com", Version: "v1", Resource: "kites"})
		if _, err := kites.Namespace("default").Create(t.Context(), kite, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	})
	select {
	case <-stopped:
	default:
		t.Error("the server runs after its test")
	}
}

func TestNewFailsTheTest(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		path func(t *testing.T) string
		want string
	}{
		"no such folder": {func(t *testing.T) string { return filepath.Join(t.TempDir(), "absent") }, "no such file"},
		"not a CRD": {func(t *testing.T) string {
			file := filepath.Join(t.TempDir(), "crd.yaml")
			if err := os.WriteFile(file, []byte("kind: Pod\napiVersion: v1\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			return file
		}, `not a CustomResourceDefinition of apiextensions.k8s.io/v1, but kind "Pod"`},
		"a CRD that is refused": {func(t *testing.T) string {
			file := filepath.Join(t.TempDir(), "crd.yaml")
			text := strings.NewReplacer("{name: kites.sky.example.com}", `{name: kites.events.k8s.io, annotations: {api-approved.kubernetes.io: "unapproved"}}`, "sky.example.com", "events.k8s.io").Replace(crd)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return file
		}, "the built-in kinds of group events.k8s.io would hide its objects"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := &failing{TB: t}
			path, done := test.path(t), make(chan struct{})
			go func() { // Fatalf ends its goroutine
				defer close(done)
				devservertest.New(fake, path)
			}()
			<-done
			if !strings.Contains(fake.message, test.want) || !strings.Contains(fake.message, "devservertest: ") {
				t.Errorf("the test fails with\n%s\nwhich doesn't contain\n%s", fake.message, test.want)
			}
		})
	}
}

// failing is a test that records why it fails.
type failing struct {
	testing.TB
	message string
}

func (f *failing) Helper() {}
func (f *failing) Fatalf(format string, args ...any) {
	f.message = fmt.Sprintf(format, args...)
	runtime.Goexit()
}
