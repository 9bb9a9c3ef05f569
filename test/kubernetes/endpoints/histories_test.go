// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 Endpoints are what this package is about.

package endpoints

import (
	"flag"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/test/kubernetes/endpoints/kubeserver"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

var (
	histories = flag.Int("histories", 300, "number of histories played in memory")
	clustered = flag.Int("cluster", 50, "number of histories played against a kube-apiserver")
	first     = flag.Uint64("seed", 1, "the seed of the first history")
)

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard()) // Kubernetes' controller logs each conflict
	klog.SetOutput(io.Discard)
	kubeserver.Main()
	goleak.VerifyTestMain(m)
}

// atOnce is the number of histories on one server.
const atOnce = 50

// TestHistoriesInMemory plays histories to both controllers, each in a cluster in memory, in the
// time of a bubble. The Endpoints of Kubernetes' controller equal the result of our pure function,
// also in their order.
func TestHistoriesInMemory(t *testing.T) {
	managed := 0
	for from := 0; from < *histories; from += atOnce {
		seeds := seedsFrom(from, *histories)
		batch := time.Duration(from/atOnce%2) * 100 * time.Millisecond
		var results [2][]result
		for n, s := range sides {
			synctest.Test(t, func(t *testing.T) {
				server := newServer()
				on := stage{config: server.Config(), batch: batch, pause: 20 * time.Millisecond, retryTime: 20 * time.Minute, settle: func([]*history) error {
					time.Sleep(10 * time.Minute)
					synctest.Wait()
					return nil
				}}
				var err error
				if results[n], err = s.play(t.Context(), on, seeds); err != nil {
					t.Fatal(s.name, err)
				}
			})
		}
		managed += compare(t, seeds, results)
	}
	t.Logf("%d histories, %d with a Service at the end", *histories, managed)
	if managed < *histories/2 {
		t.Errorf("only %d of %d histories have a Service at the end", managed, *histories)
	}
}

// seedsFrom returns the next seeds, at most atOnce.
func seedsFrom(from, all int) (seeds []uint64) {
	for n := from; n < min(from+atOnce, all); n++ {
		seeds = append(seeds, *first+uint64(n))
	}
	return seeds
}

// compare compares the results of both sides with the rules, and with each other. It returns the
// number of Services.
func compare(t *testing.T, seeds []uint64, results [2][]result) (managed int) {
	t.Helper()
	for i, theirs := range results[0] {
		ours, again := results[1][i], fmt.Sprintf("to repeat: go test . -run %s -histories 1 -cluster 1 -seed %d", t.Name(), seeds[i])
		if theirs.service != nil {
			managed++
		}
		if why := theirs.difference(); why != "" {
			t.Errorf("Kubernetes' controller and our function differ: %.3000s\n%s", why, again)
		} else if !theirs.sameBytes() {
			t.Errorf("the order of Kubernetes' subsets differs from our function's: %.3000s\n%s", text(theirs.endpoints.Subsets), again)
		}
		if why := ours.difference(); why != "" {
			t.Errorf("our controller and our function differ: %.3000s\n%s", why, again)
		}
		if got, want := canonical(ours.endpoints), canonical(theirs.endpoints); got != want {
			t.Errorf("the controllers differ: ours\n%.3000s\nKubernetes'\n%.3000s\n%s", got, want, again)
		}
	}
	return managed
}

func newServer() *sourcetest.Server {
	server := sourcetest.New()
	v1 := corev1.SchemeGroupVersion
	sourcetest.Serve[*corev1.Service](server, v1.WithResource("services"), "")
	sourcetest.Serve[*corev1.Pod](server, v1.WithResource("pods"), "")
	sourcetest.Serve[*corev1.Endpoints](server, v1.WithResource("endpoints"), "")
	sourcetest.Serve[*corev1.Event](server, v1.WithResource("events"), "")
	return server
}
