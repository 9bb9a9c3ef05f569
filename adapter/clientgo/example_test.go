// SPDX-License-Identifier: Apache-2.0

package clientgo_test

import (
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/adapter/clientgo"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// A program that has a factory of client-go changes the call that makes it. All else stays.
func ExampleNewFactory() {
	server := sourcetest.New()
	pods := corev1.SchemeGroupVersion.WithResource("pods")
	sourcetest.Serve[*corev1.Pod](server, pods, "Pod").Create(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "blue"},
	})

	newFactory := func(config *rest.Config) (informers.SharedInformerFactory, error) {
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		return informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace("shop")), nil
	}
	factory, err := clientgo.NewFactory(server.Config(), newFactory, pods)
	if err != nil {
		log.Fatal(err)
	}

	seen := make(chan string, 1)
	_, err = factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { seen <- obj.(*corev1.Pod).Name },
	})
	if err != nil {
		log.Fatal(err)
	}
	lister := factory.Core().V1().Pods().Lister()
	stop := make(chan struct{})
	factory.Start(stop)
	factory.WaitForCacheSync(stop)
	fmt.Println("added", <-seen)
	blue, err := lister.Pods("shop").Get("blue")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("found", blue.Name)
	close(stop)
	factory.Shutdown()
	// Output:
	// added blue
	// found blue
}

// An informer of this project for a library that takes client-go's informers and listers.
func ExampleNew() {
	server := sourcetest.New()
	resource := corev1.SchemeGroupVersion.WithResource("pods")
	sourcetest.Serve[*corev1.Pod](server, resource, "Pod").Create(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "blue"},
	})
	client, err := source.NewClient(server.Config())
	if err != nil {
		log.Fatal(err)
	}
	factory := factories.New(client, informer.WithEmptyBeforeSync(true)) // as client-go's are
	pods := factories.For[*corev1.Pod](factory, resource)

	shared := clientgo.New(pods) // a cache.SharedIndexInformer, which the library may run
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		shared.RunWithContext(ctx)
	}()
	cache.WaitForCacheSync(ctx.Done(), shared.HasSynced)
	blue, err := corelisters.NewPodLister(shared.GetIndexer()).Pods("shop").Get("blue")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(blue.Name)
	cancel()
	<-ended
	// Output: blue
}
