// SPDX-License-Identifier: Apache-2.0

// This program runs the Go code of docs/migrate.md, which the test writes into another file.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	clientinformers "k8s.io/client-go/informers"
	clientcache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	generated "example.com/shop/generated/informers"
)

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	check(err)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, block := range blocks {
		block(ctx, config, nil, nil)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// show starts a factory, an informer or a manager's cache, and prints its objects.
func show(ctx context.Context, line int, started any) {
	var names []string
	switch s := started.(type) {
	case clientinformers.SharedInformerFactory:
		s.Start(ctx.Done())
		s.WaitForCacheSync(ctx.Done())
		names = s.Core().V1().Pods().Informer().GetStore().ListKeys()
	case generated.SharedInformerFactory:
		check(s.Start(ctx))
		check(s.WaitForCacheSync(ctx))
		for widget := range s.Samples().V1alpha1().Widgets().Lister().All() {
			names = append(names, widget.Namespace+"/"+widget.Name)
		}
	case clientcache.SharedIndexInformer:
		go s.Run(ctx.Done())
		clientcache.WaitForCacheSync(ctx.Done(), s.HasSynced)
		names = s.GetStore().ListKeys()
	case manager.Manager:
		go func() { check(s.GetCache().Start(ctx)) }()
		s.GetCache().WaitForCacheSync(ctx) // reads need a started cache
		var pods corev1.PodList
		check(s.GetCache().List(ctx, &pods))
		for _, pod := range pods.Items {
			names = append(names, pod.Namespace+"/"+pod.Name)
		}
	default:
		log.Fatalf("%T can't be started", started)
	}
	fmt.Println("line", line, "has", names)
}
