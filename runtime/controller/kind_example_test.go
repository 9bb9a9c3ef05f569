// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/writer"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// A controller that makes a Pod for each ConfigMap. In a program, the kinds come from a generated
// factory: maps is factory.Core().V1().ConfigMaps().
func ExampleKind_Reconcile() {
	server := sourcetest.New()
	sourcetest.Serve[*corev1.Pod](server, podsResource, "Pod")
	sourcetest.Serve[*corev1.ConfigMap](server, mapsResource, "ConfigMap").Create(configMap("blue"))
	client, err := source.NewClient(server.Config())
	if err != nil {
		log.Fatal(err)
	}
	factory := factories.New(client)
	maps := controller.NewKind[*corev1.ConfigMap](factory, mapsResource, "ConfigMap", true)
	pods := controller.NewKind[*corev1.Pod](factory, podsResource, "Pod", true)

	writePods, err := controller.Writer(client, pods, writer.Options{FieldManager: "example"})
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	c, err := maps.Reconcile("pod-maker", func(ctx context.Context, m *corev1.ConfigMap) (controller.Result, error) {
		if _, ok := pods.Informer().Store().Snapshot().Get(object.KeyOf(m)); ok {
			fmt.Println(m.Name, "has its Pod")
			cancel(errors.New("done"))
			return controller.Result{}, nil
		}
		_, _, err := writePods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: m.Namespace, Name: m.Name,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(m, maps.GroupVersionKind())},
		}})
		return controller.Result{}, err
	}, controller.Owns(pods.Informer()))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Run(ctx))
	// Output:
	// blue has its Pod
	// done
}

// A controller that cleans up outside of the cluster. Its finalizer keeps the object until that is
// done.
func ExampleWriter() {
	const finalizer = "shop.example.com/bucket"
	server := sourcetest.New()
	collection := sourcetest.Serve[*corev1.ConfigMap](server, mapsResource, "ConfigMap")
	collection.Create(configMap("blue"))
	client, err := source.NewClient(server.Config())
	if err != nil {
		log.Fatal(err)
	}
	maps := controller.NewKind[*corev1.ConfigMap](factories.New(client), mapsResource, "ConfigMap", true)
	// The next reconcile of an object sees the writes of this writer.
	write, err := controller.Writer(client, maps, writer.Options{})
	if err != nil {
		log.Fatal(err)
	}

	made := make(chan struct{}, 1)
	ctx, cancel := context.WithCancelCause(context.Background())
	c, err := maps.Reconcile("buckets", func(ctx context.Context, m *corev1.ConfigMap) (controller.Result, error) {
		switch deleted, ours := m.DeletionTimestamp != nil, slices.Contains(m.Finalizers, finalizer); {
		case !deleted && !ours: // first, so no bucket is forgotten
			_, _, err := write.AddFinalizer(ctx, m, finalizer)
			return controller.Result{}, err
		case !deleted:
			fmt.Println("make the bucket of", m.Name)
			made <- struct{}{}
		case ours:
			fmt.Println("remove the bucket of", m.Name)
			if _, _, err := write.RemoveFinalizer(ctx, m, finalizer); err != nil {
				return controller.Result{}, err
			}
			cancel(errors.New("done"))
		}
		return controller.Result{}, nil
	})
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		<-made
		collection.Delete("shop", "blue") // as by kubectl delete
	}()
	fmt.Println(c.Run(ctx))
	_, exists := collection.Get("shop", "blue")
	fmt.Println("exists:", exists)
	// Output:
	// make the bucket of blue
	// remove the bucket of blue
	// done
	// exists: false
}
