// SPDX-License-Identifier: Apache-2.0

// Package cache_test runs the tests of controller-runtime's pkg/cache on another cache, against the
// server of KUBECONFIG.
package cache_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/informer-gen/informer-gen/adapter/controllerruntime"
)

// newCache takes the place of cache.New.
func newCache(config *rest.Config, opts cache.Options) (cache.Cache, error) {
	if os.Getenv("SUITE_CACHE") == "theirs" {
		return cache.New(config, opts)
	}
	return controllerruntime.NewCache(config, opts)
}

func TestMain(m *testing.M) {
	if err := createService(); err != nil {
		fmt.Fprintln(os.Stderr, "create the Service of the API server, which the tests look for:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func createService() error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	_, err = client.CoreV1().Services("default").Create(context.Background(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "kubernetes", Labels: map[string]string{"component": "apiserver", "provider": "kubernetes"}},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "https", Port: 443}}},
	}, metav1.CreateOptions{})
	return err
}
