// SPDX-License-Identifier: Apache-2.0

package data

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The properties of slim Pods.
const (
	AppLabel = "app.kubernetes.io/name"
	Apps     = 100 // each has a hundredth of the slim Pods

	PodsOnNode      = 100
	podsInNamespace = 1000 // except in BigNamespace
	BigNamespace    = "team-0"
)

// SlimPods returns n Pods with only the fields used by stores, indexes and selectors, in the order
// of their keys, as in a list: a tenth in BigNamespace and podsInNamespace in each other,
// PodsOnNode on each node, in no order. No two share a part, as in client-go. The same n gives the
// same Pods.
func SlimPods(n int) []*corev1.Pod {
	r := rand.New(rand.NewPCG(5, uint64(n)))
	order := r.Perm(n)
	nodes := max(1, n/PodsOnNode)
	pods := make([]*corev1.Pod, n)
	for i := range pods {
		pods[i] = slimPod(i, order[i]%Apps)
		pods[i].Namespace = slimNamespace(i, n)
		pods[i].Spec.NodeName = NodeName(order[i] % nodes)
	}
	return pods
}

func slimNamespace(i, n int) string {
	if i -= n / 10; i >= 0 {
		return "team-" + strconv.Itoa(1+i/podsInNamespace)
	}
	return BigNamespace
}

func slimPod(i, app int) *corev1.Pod {
	name := AppName(app)
	image := "registry.example.com/shop/" + name + ":v1.40." + strconv.Itoa(app%7)
	container := func(c, image string) corev1.Container { return corev1.Container{Name: c, Image: image} }
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:            name + "-6d4b75cb6d-" + strconv.FormatInt(int64(60_000_000+i), 36),
			UID:             types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", i)),
			ResourceVersion: strconv.Itoa(i + 1),
			Generation:      1,
			Labels: map[string]string{
				AppLabel:                       name,
				"app.kubernetes.io/version":    image[len(image)-7:],
				"app.kubernetes.io/managed-by": "Helm",
				"pod-template-hash":            "6d4b75cb6d",
			},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name + "-6d4b75cb6d", Controller: new(true),
				UID: types.UID(fmt.Sprintf("00000000-0000-4000-9000-%012d", i/podsOfOwner)),
			}},
		},
		Spec: corev1.PodSpec{
			ServiceAccountName: name,
			Containers:         []corev1.Container{container("app", image), container("proxy", "registry.example.com/mesh/proxy:v2.7.1")},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

const podsOfOwner = 20

// AppName returns the name of an app of the slim Pods.
func AppName(app int) string { return "shop-" + strconv.Itoa(app) }

// NodeName returns the name of a node of the slim Pods.
func NodeName(node int) string { return "node-" + strconv.Itoa(node) }

// Changed returns pod after an update: another object, with this resourceVersion, and with
// generation counting the updates. It shares all parts with pod.
func Changed(pod *corev1.Pod, resourceVersion int, generation int64) *corev1.Pod {
	next := *pod
	next.ResourceVersion = strconv.Itoa(resourceVersion)
	next.Generation = generation
	return &next
}

// ChangedAll returns all of them changed, in random order, as updates come.
func ChangedAll(pods []*corev1.Pod) []*corev1.Pod {
	all := make([]*corev1.Pod, len(pods))
	for i, from := range rand.New(rand.NewPCG(17, 0)).Perm(len(pods)) {
		all[i] = Changed(pods[from], len(pods)+1+i, pods[from].Generation+1)
	}
	return all
}
