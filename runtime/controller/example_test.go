// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// A controller that writes the number of Pods into each ConfigMap.
func Example() {
	server := sourcetest.New()
	maps := sourcetest.Serve[*corev1.ConfigMap](server, mapsResource, "ConfigMap")
	pods := sourcetest.Serve[*corev1.Pod](server, podsResource, "Pod")
	maps.Create(configMap("blue"))
	for _, name := range []string{"a", "b"} {
		pods.Create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "ConfigMap", Name: "blue", UID: "1"},
		}}})
	}

	client, err := source.NewClient(server.Config())
	if err != nil {
		log.Fatal(err)
	}
	factory := factories.New(client)
	mapInformer := factories.For[*corev1.ConfigMap](factory, mapsResource)
	podInformer := factories.For[*corev1.Pod](factory, podsResource)
	ctx, cancel := context.WithCancelCause(context.Background())

	reconcile := func(ctx context.Context, key object.Key) (controller.Result, error) {
		current, ok := mapInformer.Store().Snapshot().Get(key)
		if !ok {
			return controller.Result{}, nil // it was deleted
		}
		want := fmt.Sprint(podInformer.Store().Snapshot().NamespaceLen(key.Namespace))
		if current.Data["pods"] == want {
			fmt.Println(key, "has", want, "Pods")
			cancel(errors.New("done"))
			return controller.Result{}, nil
		}
		changed := current.DeepCopy()
		changed.Data = map[string]string{"pods": want}
		// In a program, a writer.Writer does both.
		written := maps.Update(changed)
		controller.Wrote(ctx, object.TokenOf(mapsResource, written))
		return controller.Result{}, nil
	}
	c, err := controller.New("pod-counter", reconcile, controller.Options{Concurrency: 4},
		controller.For(mapInformer).OfKind(schema.GroupKind{Kind: "ConfigMap"}, true),
		controller.Owns(podInformer),
	)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Run(ctx))
	// Output:
	// shop/blue has 2 Pods
	// done
}

// The Pods that use a ConfigMap of their namespace are reconciled when it changes. The keys of the
// index are names within a namespace.
func ExampleIndexed() {
	server := sourcetest.New()
	maps := sourcetest.Serve[*corev1.ConfigMap](server, mapsResource, "ConfigMap")
	pods := sourcetest.Serve[*corev1.Pod](server, podsResource, "Pod")
	client, err := source.NewClient(server.Config())
	if err != nil {
		log.Fatal(err)
	}
	factory := factories.New(client)
	mapInformer := factories.For[*corev1.ConfigMap](factory, mapsResource)
	podInformer := factories.For[*corev1.Pod](factory, podsResource)

	podsByMap := store.NewIndex("ByConfigMap", func(pod *corev1.Pod, keys []store.NamespacedKey[string]) []store.NamespacedKey[string] {
		for _, volume := range pod.Spec.Volumes {
			if volume.ConfigMap != nil {
				keys = append(keys, store.NamespacedKey[string]{Namespace: pod.Namespace, Key: volume.ConfigMap.Name})
			}
		}
		return keys
	})
	keyOfMap := func(m *corev1.ConfigMap) store.NamespacedKey[string] {
		return store.NamespacedKey[string]{Namespace: m.Namespace, Key: m.Name}
	}

	ctx, cancel := context.WithCancelCause(context.Background())
	reconcile := func(_ context.Context, key object.Key) (controller.Result, error) {
		m, ok := mapInformer.Store().Snapshot().Get(object.Key{Namespace: key.Namespace, Name: "settings"})
		if !ok {
			maps.Create(configMap("settings")) // changes it, which queues the Pod again
			return controller.Result{}, nil
		}
		fmt.Println(key, "uses", m.Name)
		cancel(errors.New("done"))
		return controller.Result{}, nil
	}
	c, err := controller.New("pods", reconcile, controller.For(podInformer), controller.Indexed(podsByMap, mapInformer, keyOfMap))
	if err != nil {
		log.Fatal(err)
	}
	pods.Create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "blue"}, Spec: corev1.PodSpec{Volumes: []corev1.Volume{{
		Name:         "settings",
		VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}},
	}}}})
	fmt.Println(c.Run(ctx))
	// Output:
	// shop/blue uses settings
	// done
}

// A namespace with many objects doesn't delay those of another one.
func ExampleOptions_tenant() {
	server := sourcetest.New()
	maps := sourcetest.Serve[*corev1.ConfigMap](server, mapsResource, "ConfigMap")
	for n := range 1000 {
		maps.Create(mapIn("large", fmt.Sprintf("map-%03d", n)))
	}
	maps.Create(mapIn("small", "blue"))
	client, err := source.NewClient(server.Config())
	if err != nil {
		log.Fatal(err)
	}
	mapInformer := factories.For[*corev1.ConfigMap](factories.New(client), mapsResource)

	ctx, cancel := context.WithCancelCause(context.Background())
	reconcile := func(_ context.Context, key object.Key) (controller.Result, error) {
		fmt.Println(key)
		if key.Namespace == "small" {
			cancel(errors.New("done"))
		}
		return controller.Result{}, nil
	}
	c, err := controller.New("maps", reconcile, controller.For(mapInformer), controller.Options{
		Tenant: func(key object.Key) string { return key.Namespace },
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Run(ctx))
	// Output:
	// large/map-000
	// small/blue
	// done
}
