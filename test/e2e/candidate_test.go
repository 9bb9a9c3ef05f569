// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/manager"
	"github.com/informer-gen/informer-gen/runtime/manager/election"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/writer"
)

// The tests of elections run this test binary again, as participants. Their times are short; a
// Lease has whole seconds.
const (
	candidateEnv = "E2E_CANDIDATE" // the address of the server
	electionName = "election"      // of the Lease, and of the ConfigMap written by the leader

	leaseTime = 6 * time.Second
	renewTime = 3 * time.Second
	retryTime = 500 * time.Millisecond
	fenceTime = renewTime + retryTime // after the last renewal, since the margin is the rest
)

// candidate is the main function of a participant. It writes as often as it can while it leads, and
// shuts down on SIGTERM.
func candidate(url string) (code int) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	m, err := newCandidate(&rest.Config{Host: url})
	if err == nil {
		err = m.Run(ctx)
	}
	if err != context.Cause(ctx) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func newCandidate(config *rest.Config) (*manager.Manager, error) {
	client, err := source.NewClient(config)
	if err != nil {
		return nil, err
	}
	e, err := election.New(config, election.Options{
		Namespace: "default", Name: electionName, LeaseDuration: leaseTime, RenewDeadline: renewTime, RetryPeriod: retryTime,
	})
	if err != nil {
		return nil, err
	}
	resource := corev1.SchemeGroupVersion.WithResource("configmaps")
	factory := factories.New(client)
	return manager.New(manager.Options{
		Config: config, Factory: factory, Election: e,
		Controllers: []manager.Descriptor{{Name: "counter", New: func(_ context.Context, c *manager.Context) (manager.Runnable, error) {
			maps, err := writer.New[*corev1.ConfigMap](c.Client, resource, writer.Options{})
			if err != nil {
				return nil, err
			}
			informer := factories.For[*corev1.ConfigMap](factory, resource)
			return controller.New(c.Name, func(ctx context.Context, key object.Key) (controller.Result, error) {
				if key.Name != electionName {
					return controller.Result{}, nil
				}
				// A patch has no resourceVersion, so nothing but the fence guards it.
				data := fmt.Appendf(nil, `{"data":{"at":"%d"}}`, time.Now().UnixNano())
				_, _, err := maps.Patch(ctx, key, types.MergePatchType, data)
				if errors.Is(err, election.ErrNotLeading) {
					err = nil // an error would make the delays grow
				}
				return controller.Result{RequeueAfter: time.Millisecond}, err
			}, controller.Options{}, controller.For(informer))
		}}},
	})
}
