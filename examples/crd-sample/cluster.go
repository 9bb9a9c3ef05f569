// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"embed"
	"fmt"
	"net/http/httptest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/informer-gen/informer-gen/examples/crd-sample/api/v1alpha1"
	listers "github.com/informer-gen/informer-gen/examples/crd-sample/generated/listers/samples/v1alpha1"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

//go:embed config/crd/*.yaml
var crds embed.FS

// connect returns the cluster of a kubeconfig or, if that is "", an API server in memory, ended by
// stop.
func connect(out *report, kubeconfig string) (config *rest.Config, stop func(), err error) {
	if kubeconfig == "" {
		server := httptest.NewServer(newServer())
		out.line("server", "API server in memory, at %s", server.URL)
		return &rest.Config{Host: server.URL, QPS: -1}, server.Close, nil
	}
	config, err = clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, nil, fmt.Errorf("--kubeconfig %s: %w", kubeconfig, err)
	}
	config.QPS = -1 // for a few hundred creates at once
	out.line("server", "%s", config.Host)
	return config, func() {}, nil
}

// newServer returns an API server in memory with the resources of this project. It needs no CRDs,
// and namespaces need not be created.
func newServer() *sourcetest.Server {
	server := sourcetest.New()
	sourcetest.Serve[*v1alpha1.Site](server, listers.SiteResource(), "Site")
	sourcetest.Serve[*v1alpha1.Widget](server, listers.WidgetResource(), "Widget", "spec.nodeName")
	return server
}

// install applies the embedded CRDs, waits until their resources are served, and creates the
// namespace.
func (s *shop) install(ctx context.Context, out *report) error {
	began := time.Now()
	resources := []schema.GroupVersionResource{listers.SiteResource(), listers.WidgetResource()}
	for _, r := range resources {
		text, err := crds.ReadFile("config/crd/" + r.Group + "_" + r.Resource + ".yaml")
		if err != nil {
			return err
		}
		err = s.client.Patch(types.ApplyPatchType).
			AbsPath("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", r.GroupResource().String()).
			Param("fieldManager", "crd-sample").Param("force", "true").Body(text).Do(ctx).Error()
		if err != nil {
			return fmt.Errorf("apply CRD %s: %w", r.GroupResource(), err)
		}
	}
	for _, r := range resources {
		err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			err := s.client.Get().Resource(r.Resource).Param("limit", "1").Do(ctx).Error()
			if apierrors.IsNotFound(err) {
				return false, nil
			}
			return err == nil, err
		})
		if err != nil {
			return fmt.Errorf("wait until %s are served (the conditions of their CRD may say why not): %w", r.GroupResource(), err)
		}
	}
	out.line("install", "%d CRDs, served after %s", len(resources), since(began))

	// A server for CRDs alone has no namespaces, and needs none.
	body := fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, namespace)
	err := s.client.Post().AbsPath("/api/v1/namespaces").SetHeader("Content-Type", "application/json").Body([]byte(body)).Do(ctx).Error()
	if err != nil && !apierrors.IsAlreadyExists(err) && !apierrors.IsNotFound(err) {
		return fmt.Errorf("create namespace %s: %w", namespace, err)
	}
	return nil
}
