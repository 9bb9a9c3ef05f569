// SPDX-License-Identifier: Apache-2.0

package user

import (
	"net/http"
	"os"
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// devserver returns the config of the server started by the parent process.
func devserver(t *testing.T) *rest.Config {
	t.Helper()
	url := os.Getenv("CORPUS_SERVER")
	if url == "" {
		t.Fatal("CORPUS_SERVER is not set; run go test in test/corpus")
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &rest.Config{Host: url, Transport: transport, QPS: -1}
}

// resource returns the dynamic client of a resource, which uses none of our code.
func resource(t *testing.T, config *rest.Config, gvr schema.GroupVersionResource, namespace string) dynamic.ResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if namespace == "" {
		return client.Resource(gvr)
	}
	return client.Resource(gvr).Namespace(namespace)
}

// untyped converts an object of a resource. Its kind is the name of its Go type.
func untyped(t *testing.T, gvr schema.GroupVersionResource, obj object.Object) *unstructured.Unstructured {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(gvr.GroupVersion().WithKind(reflect.TypeOf(obj).Elem().Name()))
	return u
}

func create(t *testing.T, r dynamic.ResourceInterface, u *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	created, err := r.Create(deadline(t), u, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

func update(t *testing.T, r dynamic.ResourceInterface, u *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	updated, err := r.Update(deadline(t), u, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return updated
}

func remove(t *testing.T, r dynamic.ResourceInterface, name string) {
	t.Helper()
	if err := r.Delete(deadline(t), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}
