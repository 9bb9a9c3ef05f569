// SPDX-License-Identifier: Apache-2.0

package patches_test

import (
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/source/sourcetest"
	"github.com/informer-gen/informer-gen/runtime/source/sourcetest/patches"
	"github.com/informer-gen/informer-gen/runtime/writer"
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
