// SPDX-License-Identifier: Apache-2.0

package certmanager

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	clientset "github.com/cert-manager/cert-manager/pkg/client/clientset/versioned"
	"github.com/cert-manager/cert-manager/pkg/client/informers/externalversions"
	"github.com/cert-manager/cert-manager/pkg/controller"
	"github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	"github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/ca"
	"github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	"github.com/cert-manager/cert-manager/pkg/controller/issuers"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"         // issuers register themselves
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned" // the same
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/adapter/clientgo"
)

// The environment of a child: the URL of its API server, and the engine of its informers.
const (
	serverVariable = "CERT_MANAGER_SERVER"
	engineVariable = "CERT_MANAGER_ENGINE"
)

// controllers are the controllers that issue certificates without a network.
var controllers = []string{
	approver.ControllerName, ca.CRControllerName, selfsigned.CRControllerName, issuers.ControllerName,
	issuing.ControllerName, keymanager.ControllerName, readiness.ControllerName, requestmanager.ControllerName,
	revisionmanager.ControllerName, trigger.ControllerName,
}

func TestMain(m *testing.M) {
	server := os.Getenv(serverVariable)
	if server == "" {
		os.Exit(m.Run())
	}
	// cert-manager's controllers leak goroutines, which end with this process.
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	if err := runControllers(ctx, server, os.Getenv(engineVariable) == ours); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// runControllers runs cert-manager's controllers until ctx is done.
func runControllers(ctx context.Context, server string, ours bool) error {
	factory, err := controller.NewContextFactory(ctx, controller.ContextOptions{
		APIServerHost: server, KubernetesAPIQPS: -1,
		IssuerOptions: controller.IssuerOptions{ClusterResourceNamespace: "default"},
		CertificateOptions: controller.CertificateOptions{
			CertificateRequestMinimumBackoffDuration: time.Hour, CertificateRequestMaximumBackoffDuration: time.Hour,
		},
	})
	if err != nil {
		return err
	}
	made, err := factory.Build("interop")
	if err != nil {
		return err
	}
	if ours {
		if err := install(made.SharedInformerFactory, server); err != nil {
			return err
		}
	}
	var all []controller.Interface
	for _, name := range controllers {
		c, err := controller.Known()[name](factory)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, c)
	}
	made.SharedInformerFactory.Start(ctx.Done())
	made.KubeSharedInformerFactory.Start(ctx.Done())
	made.HTTP01ResourceMetadataInformersFactory.Start(ctx.Done())

	failed := make([]error, len(all))
	var running sync.WaitGroup
	for n, c := range all {
		running.Go(func() { failed[n] = c.Run(2, ctx) })
	}
	running.Wait()
	return errors.Join(failed...)
}

// install puts our informers into cert-manager's factory, for the kinds read by the controllers.
func install(factory externalversions.SharedInformerFactory, server string) error {
	read := map[string]runtime.Object{
		"certificates": &certmanagerv1.Certificate{}, "certificaterequests": &certmanagerv1.CertificateRequest{},
		"issuers": &certmanagerv1.Issuer{}, "clusterissuers": &certmanagerv1.ClusterIssuer{},
	}
	var resources []schema.GroupVersionResource
	for name := range read {
		resources = append(resources, certmanagerv1.SchemeGroupVersion.WithResource(name))
	}
	made, err := clientgo.NewFactory(&rest.Config{Host: server, QPS: -1}, func(config *rest.Config) (externalversions.SharedInformerFactory, error) {
		client, err := clientset.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		return externalversions.NewSharedInformerFactory(client, 0), nil
	}, resources...)
	if err != nil {
		return err
	}
	for _, resource := range resources {
		of, err := made.ForResource(resource)
		if err != nil {
			return err
		}
		factory.InformerFor(read[resource.Resource], func(clientset.Interface, time.Duration) cache.SharedIndexInformer { return of.Informer() })
	}
	return nil
}
