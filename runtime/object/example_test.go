// SPDX-License-Identifier: Apache-2.0

package object_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// A key is comparable and has a text form.
func ExampleKeyOf() {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "blue"}}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}
	fmt.Println(object.KeyOf(pod))
	fmt.Println(object.KeyOf(node))
	fmt.Println(object.KeyOf(pod) == object.Key{Namespace: "shop", Name: "blue"})
	// Output:
	// shop/blue
	// node-1
	// true
}

func ExampleParseKey() {
	key, err := object.ParseKey("shop/blue")
	fmt.Printf("%q %q %v\n", key.Namespace, key.Name, err)
	_, err = object.ParseKey("shop/")
	fmt.Println(err)
	// Output:
	// "shop" "blue" <nil>
	// key "shop/": want "namespace/name" or "name"
}
