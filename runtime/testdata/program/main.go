// SPDX-License-Identifier: Apache-2.0

// Program is a small program with a manager. docs/controllers.md shows it, and a test looks at the
// size of its executable.
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/manager"
	"github.com/informer-gen/informer-gen/runtime/manager/election"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		klog.ErrorS(err, "The program has failed")
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	kubeconfig := pflag.String("kubeconfig", os.Getenv("KUBECONFIG"), "kubeconfig file; empty for the Pod's own credentials")
	elect := pflag.Bool("leader-elect", true, "run the controllers only while this process leads")
	leases := election.Options{Namespace: "default", Name: "pods"}
	leases.AddFlags(pflag.CommandLine)
	var options manager.Options
	options.Address = ":8080"
	options.Controllers = []manager.Descriptor{{Name: "pods", New: func(_ context.Context, c *manager.Context) (manager.Runnable, error) {
		pods := factories.For[*corev1.Pod](options.Factory, corev1.SchemeGroupVersion.WithResource("pods"))
		return controller.New(c.Name, func(_ context.Context, key object.Key) (controller.Result, error) {
			if pod, ok := pods.Store().Snapshot().Get(key); ok {
				c.Recorder.Eventf(pod, nil, corev1.EventTypeNormal, "Seen", "Reconcile", "the pod is on node %s", pod.Spec.NodeName)
			}
			return controller.Result{}, nil
		}, controller.For(pods))
	}}}
	options.AddFlags(pflag.CommandLine) // --address, --controllers, -v, --logging-format, …
	pflag.Parse()

	if options.Config, err = clientcmd.BuildConfigFromFlags("", *kubeconfig); err != nil {
		return err
	}
	client, err := source.NewClient(options.Config)
	if err != nil {
		return err
	}
	options.Factory = factories.New(client)
	if *elect {
		if options.Election, err = election.New(options.Config, leases); err != nil {
			return err
		}
	}
	m, err := manager.New(options)
	if err != nil {
		return err
	}
	return m.Run(ctx)
}
