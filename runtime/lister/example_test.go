// SPDX-License-Identifier: Apache-2.0

package lister_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/runtime/lister"
	"github.com/informer-gen/informer-gen/runtime/store"
)

func Example() {
	pods, err := store.New[*corev1.Pod]()
	if err != nil {
		fmt.Println(err)
		return
	}
	err = pods.Update(func(x *store.Txn[*corev1.Pod]) error {
		for _, name := range []string{"cart", "search"} {
			if err := x.Set(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Namespace: "shop", Name: name, Labels: map[string]string{"app": name},
			}}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	all := lister.New(pods, corev1.Resource("pods"))
	list, _ := all.List(labels.SelectorFromSet(labels.Set{"app": "cart"}))
	for _, pod := range list {
		fmt.Println("found", pod.Namespace, pod.Name)
	}
	pod, err := all.Namespace("shop").Get("search")
	fmt.Println("got", pod.Name, err)
	_, err = all.Namespace("shop").Get("checkout")
	fmt.Println(err, apierrors.IsNotFound(err))
	// Output:
	// found shop cart
	// got search <nil>
	// pods "checkout" not found true
}
