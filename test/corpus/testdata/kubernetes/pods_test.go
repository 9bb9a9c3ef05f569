// SPDX-License-Identifier: Apache-2.0

package user

import (
	"path"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/testkit/sourcetest"

	listers "corpus.example/user/generated/listers/core/v1"
)

func pod(name, node, image string, owner types.UID) *corev1.Pod {
	yes := true
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	p.Spec.NodeName = node
	p.Spec.Containers = []corev1.Container{{Name: "main", Image: image}, {Name: "proxy", Image: "envoy:1"}}
	if owner != "" {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "rs", UID: owner, Controller: &yes}}
	}
	return p
}

func TestPods(t *testing.T) {
	for _, format := range []string{sourcetest.JSON, sourcetest.Protobuf} {
		t.Run(path.Base(format), func(t *testing.T) {
			server := sourcetest.New()
			server.MediaTypes = []string{format}
			written := sourcetest.Serve[*corev1.Pod](server, listers.PodResource(), "")
			written.Create(pod("web-1", "node-1", "nginx:1", "uid-1"))
			written.Create(pod("job-1", "", "busybox:1", ""))

			factory, answers := newFactory(t, server.Config())
			pods := factory.Core().V1().Pods()
			lister := pods.Lister()
			told := record(t, pods.Informer(), func(p *corev1.Pod) bool { return p.Name != "job-1" })
			start(t, factory)

			written.Create(pod("web-2", "node-1", "nginx:1", "uid-1"))
			await(t, pods.Informer(), written.Update(pod("web-1", "node-2", "nginx:2", "uid-1")))
			wantNames(t, "Pods of node-1", lister.ListByNode("node-1"), "web-2")
			wantNames(t, "Pods of node-2", lister.ListByNode("node-2"), "web-1")
			wantNames(t, "Pods with the image nginx:2", lister.ListByImage("nginx:2"), "web-1")
			wantNames(t, "Pods with the image envoy:1", lister.ListByImage("envoy:1"), "job-1", "web-1", "web-2")
			wantNames(t, "Pods with the image envoy:1 in shop", lister.Pods("shop").ListByImage("envoy:1"), "job-1", "web-1", "web-2")
			wantNames(t, "Pods with the image envoy:1 elsewhere", lister.Pods("depot").ListByImage("envoy:1"))
			wantNames(t, "Pods of the controller uid-1", lister.ListByController("uid-1"), "web-1", "web-2")

			await(t, pods.Informer(), written.Delete("shop", "web-2"))
			wantNames(t, "Pods of node-1 after the deletion", lister.ListByNode("node-1"))
			if _, err := lister.Pods("shop").Get("web-2"); !apierrors.IsNotFound(err) {
				t.Errorf("Get of a deleted Pod: got error %v, want NotFound", err)
			}
			if p, err := lister.Pods("shop").Get("web-1"); err != nil || p.Spec.Containers[1].Image != "envoy:1" {
				t.Errorf(`Get("web-1") = %v, %v; want the image envoy:1 in its second container`, p, err)
			}
			told.want(t, "add web-1", "add web-2", "update web-1", "delete web-2")
			answers.wantFormat(t, mediaTypes(format)...)
		})
	}
}

// mediaTypes returns the media types of a format: in answers to lists, and to watches.
func mediaTypes(format string) []string {
	return []string{format, format + ";stream=watch"}
}
