// SPDX-License-Identifier: Apache-2.0

package devserver_test

import (
	"context"
	"fmt"
	"log"
	"testing/fstest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/informer-gen/informer-gen/devserver"
)

// In a program this is an embed.FS or os.DirFS("config/crd").
var files = fstest.MapFS{"crd/lamps.yaml": {Data: []byte(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: lamps.home.example.com
spec:
  group: home.example.com
  names: {kind: Lamp, plural: lamps}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              watts: {type: integer, maximum: 100}
`)}}

func Example() {
	ctx := context.Background()
	crds, err := devserver.ReadCRDs(files, "crd")
	if err != nil {
		log.Fatal(err)
	}
	server, err := devserver.Start(ctx, devserver.Options{CRDs: crds})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()

	client, err := dynamic.NewForConfig(server.Config())
	if err != nil {
		log.Fatal(err)
	}
	lamps := client.Resource(schema.GroupVersionResource{Group: "home.example.com", Version: "v1", Resource: "lamps"})
	for name, watts := range map[string]int64{"desk": 9, "stage": 2000} {
		lamp := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "home.example.com/v1",
			"kind":       "Lamp",
			"metadata":   map[string]any{"name": name},
			"spec":       map[string]any{"watts": watts},
		}}
		if _, err := lamps.Namespace("hall").Create(ctx, lamp, metav1.CreateOptions{}); err != nil {
			fmt.Println(err)
		}
	}
	list, err := lamps.List(ctx, metav1.ListOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, lamp := range list.Items {
		fmt.Println(lamp.GetNamespace()+"/"+lamp.GetName(), lamp.GetGeneration())
	}
	// Output:
	// Lamp.home.example.com "stage" is invalid: spec.watts: Invalid value: 2000: spec.watts in body should be less than or equal to 100
	// hall/desk 1
}

// A watch from an expired version fails, and its client has to list again. Versions expire after
// some minutes in a cluster, and at once in a test.
func ExampleServer_ExpireWatches() {
	ctx := context.Background()
	crds, err := devserver.ReadCRDs(files, "crd")
	if err != nil {
		log.Fatal(err)
	}
	server, err := devserver.Start(ctx, devserver.Options{CRDs: crds})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	client, err := dynamic.NewForConfig(server.Config())
	if err != nil {
		log.Fatal(err)
	}
	lamps := client.Resource(schema.GroupVersionResource{Group: "home.example.com", Version: "v1", Resource: "lamps"})
	list, err := lamps.List(ctx, metav1.ListOptions{})
	if err != nil {
		log.Fatal(err)
	}

	if err := server.ExpireWatches(ctx); err != nil {
		log.Fatal(err)
	}
	watch, err := lamps.Watch(ctx, metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	if err != nil {
		log.Fatal(err)
	}
	event := <-watch.ResultChan()
	watch.Stop()
	fmt.Println(event.Type, apierrors.ReasonForError(apierrors.FromObject(event.Object)))
	// Output: ERROR Expired
}
