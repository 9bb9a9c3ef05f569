// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

var selections = flag.Int("selections", 150, "number of random histories that TestRandomSelections plays")

// TestRandomSelections plays random histories of namespaces and pods, and compares the store with
// the pods of the matching namespaces.
func TestRandomSelections(t *testing.T) {
	for seed := range *selections {
		inBubble(t, fmt.Sprint("seed ", seed), func(t *testing.T) { playSelection(t, rand.New(rand.NewPCG(uint64(seed), 1))) })
	}
}

func playSelection(t *testing.T, random *rand.Rand) {
	r := newRealm("")
	f := r.Factory(t, inProduction, informer.WithLogger(discard))
	pods := podsOf(f)
	var slow, quick journal[*corev1.Pod]
	slow.Before = func(string, object.Key) { time.Sleep(20 * time.Millisecond) }
	informertest.Add(t, pods, &slow, informer.WithBacklogThreshold(3))
	informertest.Add(t, pods, &quick)
	noError(t, f.Start(t.Context()))
	end := func() {}
	for range 60 {
		name, podName := fmt.Sprint("ns-", random.IntN(4)), fmt.Sprint("pod-", random.IntN(3))
		labelled := name
		if random.IntN(2) == 0 {
			labelled = "!" + name
		}
		_, exists := r.namespaces.Get("", name)
		_, podExists := r.Pods.Get(name, podName)
		switch n := random.IntN(16); {
		case n < 4 && exists:
			r.label(labelled)
		case n < 5 && exists:
			r.namespaces.Delete("", name)
		case n < 5:
			r.namespaces.Create(namespace(labelled))
		case n < 9 && podExists:
			r.Pods.Update(pod(name, podName, "node"))
		case n < 9:
			r.Pods.Create(pod(name, podName, ""))
		case n < 10 && podExists:
			r.Pods.Delete(name, podName)
		case n == 10:
			r.EndWatches()
		case n == 11:
			r.EndWatches()
			r.Compact()
		case n == 12:
			end()
			end = r.Inject(sourcetest.Fault{Times: 1 + random.IntN(5), Skip: random.IntN(3), Do: []func(*sourcetest.Answer){
				sourcetest.Refuse(503), sourcetest.Refuse(403), sourcetest.Fail(informertest.ErrOutage), func(a *sourcetest.Answer) { a.Delay = time.Second },
			}[random.IntN(4)]})
		case n == 13:
			noError(t, f.Stop(t.Context(), pods))
			noError(t, f.Start(t.Context()))
		case n == 14:
			pass(time.Duration(random.IntN(3000)) * time.Millisecond)
		default:
			synctest.Wait()
		}
	}
	end()
	r.EndWatches()
	pass(5 * time.Minute)
	noError(t, f.WaitForCacheSync(t.Context()))
	wanted := map[object.Key]string{}
	for _, pod := range r.Pods.All() {
		if n, ok := r.namespaces.Get("", pod.Namespace); ok && n.Labels["env"] == "prod" {
			wanted[object.KeyOf(pod)] = pod.ResourceVersion
		}
	}
	stored := map[object.Key]string{}
	for pod := range pods.Store().Snapshot().All() {
		stored[object.KeyOf(pod)] = pod.ResourceVersion
	}
	same(t, "objects", stored, wanted)
	slow.Check(t, pods)
	quick.Check(t, pods)
	shutdown(t, f)
}
