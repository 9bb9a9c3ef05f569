// SPDX-License-Identifier: Apache-2.0

package writing

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/informer-gen/informer-gen/test/internal/writing"
	"github.com/informer-gen/informer-gen/test/kubernetes/endpoints/kubeserver"
)

func TestMain(m *testing.M) {
	kubeserver.Main()
	os.Exit(m.Run())
}

func TestWriting(t *testing.T) {
	config := kubeserver.Start(t)
	if err := install(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	writing.Run(t, config)
}

// install makes the CRD, and waits until its objects can be listed.
func install(ctx context.Context, config *rest.Config) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	crd := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(writing.CRD), &crd.Object); err != nil {
		return err
	}
	crds := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	if _, err := crds.Create(ctx, crd, metav1.CreateOptions{}); err != nil {
		return err
	}
	plural, group, _ := strings.Cut(crd.GetName(), ".")
	for {
		_, err := client.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: plural}).List(ctx, metav1.ListOptions{})
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the CRD is not served: %w", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
