// SPDX-License-Identifier: Apache-2.0

package endpoints

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/test/kubernetes/endpoints/kubeserver"
)

// TestHistoriesAgainstKubernetes plays histories to both controllers, one after the other, on a
// kube-apiserver. Each history has its own namespace.
func TestHistoriesAgainstKubernetes(t *testing.T) {
	config := kubeserver.Start(t)
	for from := 0; from < *clustered; from += atOnce {
		seeds := seedsFrom(from, *clustered)
		var results [2][]result
		for n, s := range sides {
			on := stage{
				config: rest.CopyConfig(config), pause: 20 * time.Millisecond, strict: true,
				settle: func(all []*history) error { return awaitResults(t.Context(), all) },
			}
			var err error
			if results[n], err = s.play(t.Context(), on, seeds); err != nil {
				t.Fatal(s.name, err)
			}
		}
		compare(t, seeds, results)
	}
}

// awaitResults waits until all results follow the rules. It returns an error if that takes long.
func awaitResults(ctx context.Context, all []*history) error {
	for _, h := range all {
		for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
			r, err := h.result(ctx)
			if err != nil {
				return err
			}
			why := r.difference()
			if why == "" {
				break
			}
			if time.Since(began) > 2*time.Minute {
				return fmt.Errorf("%s: after 2 minutes: %s", h.namespace, why)
			}
		}
	}
	return nil
}
