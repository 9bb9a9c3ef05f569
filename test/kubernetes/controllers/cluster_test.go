// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"context"
	"fmt"
	"hash/fnv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/informer-gen/informer-gen/test/kubernetes/endpoints/kubeserver"
)

// cluster is an API server with all controllers on one engine, and a stand-in for kubelets.
type cluster struct {
	engine string
	client kubernetes.Interface
	all    dynamic.Interface
}

// node is the name of the Node of all Pods.
const node = "node"

// startCluster starts a cluster that ends with the test.
func startCluster(t *testing.T, e engine) *cluster {
	t.Helper()
	config := kubeserver.Start(t)
	runControllers(t, e, config)
	config = rest.CopyConfig(config)
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	all, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{engine: e.name, client: client, all: all}
	if _, err := client.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	go func() { c.runPods(ctx); close(ended) }()
	t.Cleanup(func() { cancel(); <-ended })
	return c
}

// runPods acts as the kubelets: Pods of Jobs succeed, others become ready, and deleted Pods end. A
// failed write is tried again in the next round.
func (c *cluster) runPods(ctx context.Context) {
	for ; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		pods, err := c.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
		if err != nil {
			continue
		}
		for _, pod := range pods.Items {
			if pod.DeletionTimestamp != nil && ptr.Deref(pod.DeletionGracePeriodSeconds, 0) > 0 {
				now := metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0), Preconditions: metav1.NewUIDPreconditions(string(pod.UID))}
				_ = c.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, now)
			}
			if pod.Status.Phase != corev1.PodPending {
				continue
			}
			pod.Status.Phase = corev1.PodRunning
			pod.Status.PodIP = addressOf(pod.Name)
			pod.Status.PodIPs = []corev1.PodIP{{IP: pod.Status.PodIP}}
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
			if pod.Labels[batchv1.JobNameLabel] != "" {
				pod.Status.Phase, pod.Status.Conditions = corev1.PodSucceeded, nil
			}
			_, _ = c.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, &pod, metav1.UpdateOptions{})
		}
	}
}

// addressOf returns the same address for a name in each run: endpoints are sorted by address.
func addressOf(pod string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(pod))
	n := h.Sum32()
	return fmt.Sprintf("10.0.%d.%d", n>>8%256, n%256)
}
