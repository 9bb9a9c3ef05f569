// SPDX-License-Identifier: Apache-2.0

package patches_test

import (
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/writer"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
	"github.com/informer-gen/informer-gen/testkit/sourcetest/patches"
)

// A writer applies an object to a server in memory.
func ExampleAll() {
	server := sourcetest.New()
	server.Patches = patches.All{}
	resource := corev1.SchemeGroupVersion.WithResource("configmaps")
	sourcetest.Serve[*corev1.ConfigMap](server, resource, "ConfigMap")

	client, err := source.NewClient(server.Config())
	if err != nil {
		log.Fatal(err)
	}
	maps, err := writer.New[*corev1.ConfigMap](client, resource, writer.Options{Kind: "ConfigMap", FieldManager: "painter"})
	if err != nil {
		log.Fatal(err)
	}
	applied, _, err := maps.Apply(context.Background(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "colours"},
		Data:       map[string]string{"door": "blue"},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(applied.Name, applied.Data, "owned by", applied.ManagedFields[0].Manager)
	// Output: colours map[door:blue] owned by painter
}

// With the schemas of built-in kinds, items of lists are merged: two writers each apply a container
// of one Pod.
func ExampleAll_typeConverter() {
	server := sourcetest.New()
	server.Patches = patches.All{TypeConverter: applyconfigurations.NewTypeConverter(scheme.Scheme)}
	resource := corev1.SchemeGroupVersion.WithResource("pods")
	collection := sourcetest.Serve[*corev1.Pod](server, resource, "Pod")

	client, err := source.NewClient(server.Config())
	if err != nil {
		log.Fatal(err)
	}
	for _, container := range []string{"app", "proxy"} {
		pods, err := writer.New[*corev1.Pod](client, resource, writer.Options{Kind: "Pod", FieldManager: container + "-writer"})
		if err != nil {
			log.Fatal(err)
		}
		_, _, err = pods.Apply(context.Background(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "blue"},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: container, Image: container + ":1"}}},
		})
		if err != nil {
			log.Fatal(err)
		}
	}
	blue, _ := collection.Get("shop", "blue")
	for _, container := range blue.Spec.Containers {
		fmt.Println(container.Name, container.Image)
	}
	// Output:
	// app app:1
	// proxy proxy:1
}
