// SPDX-License-Identifier: Apache-2.0

package protobuf_test

import (
	"bytes"
	"fmt"
	"log"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/informer-gen/informer-gen/server/protobuf"
)

// A Pod as a cache keeps it: with a field to select by, and without its managedFields.
func Example() {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "blue", ResourceVersion: "7"},
		Spec:       corev1.PodSpec{NodeName: "node-1"},
	}
	pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	message, err := pod.Marshal()
	if err != nil {
		log.Fatal(err)
	}

	pods := protobuf.BuiltIn(corev1.SchemeGroupVersion.WithKind("Pod"))
	reader, err := protobuf.NewReader(pods, []string{"spec.nodeName"}, []string{".metadata.managedFields"})
	if err != nil {
		log.Fatal(err)
	}
	object, err := reader.Read(message)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(object.Key, object.Version, object.Fields.Get("spec.nodeName"))

	var kept corev1.Pod
	if err := kept.Unmarshal(object.Bytes); err != nil {
		log.Fatal(err)
	}
	fmt.Println(kept.Name, len(kept.ManagedFields))
	// Output:
	// shop/blue 7 node-1
	// blue 0
}

// A server answers a list from stored messages, without decoding them.
func ExampleWriteList() {
	var messages [][]byte
	for _, name := range []string{"blue", "green"} {
		message, err := (&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}).Marshal()
		if err != nil {
			log.Fatal(err)
		}
		messages = append(messages, message)
	}
	var body bytes.Buffer // in a server, the http.ResponseWriter
	kind := metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}
	if err := protobuf.WriteList(&body, kind, metav1.ListMeta{ResourceVersion: "7"}, "", slices.Values(messages)); err != nil {
		log.Fatal(err)
	}

	// A client decodes it.
	decoded, err := runtime.Decode(scheme.Codecs.UniversalDeserializer(), body.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	list := decoded.(*corev1.PodList)
	fmt.Println(list.ResourceVersion, list.Items[0].Name, list.Items[1].Name)
	// Output: 7 blue green
}
