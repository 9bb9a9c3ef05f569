// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 Endpoints are what this package is about.

package reconciler_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/informer-gen/informer-gen/examples/endpoints-controller/generated/informers"
	listers "github.com/informer-gen/informer-gen/examples/endpoints-controller/generated/listers/core/v1"
	"github.com/informer-gen/informer-gen/examples/endpoints-controller/reconciler"
	"github.com/informer-gen/informer-gen/examples/endpoints-controller/selectors"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
	"github.com/informer-gen/informer-gen/testkit/storetest"
)

func TestEndpointsFollowServicesAndPods(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.pods.Create(pod("10.0.0.1", "web"))
		r.services.Create(service("web"))
		r.start(reconciler.Options{})
		r.want("at the start", "web", "10.0.0.1")

		r.services.Create(service("api"))
		r.want("a Service without Pods", "api", "")
		r.pods.Create(pod("10.0.0.2", "api"))
		r.want("a Pod comes", "api", "10.0.0.2")
		r.pods.Update(pod("10.0.0.2", "api", isNotReady))
		r.want("it is not ready", "api", "not:10.0.0.2")
		r.pods.Update(pod("10.0.0.2", "web"))
		r.want("it changes sides", "api", "")
		r.want("it changes sides", "web", "10.0.0.1 10.0.0.2")
		r.pods.Update(pod("10.0.0.2", "web", func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }))
		r.want("it has failed", "web", "10.0.0.1")
		r.pods.Delete("shop", "pod-10.0.0.1")
		r.want("a Pod goes", "web", "")

		r.services.Delete("shop", "api")
		r.want("a Service goes", "api", "none")
		r.writes()
		r.pods.Create(pod("10.0.0.3", "other"))
		r.pods.Update(pod("10.0.0.2", "web", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }))
		r.wantWrites("irrelevant changes")
	})
}

func TestEndpointsOfOthersStay(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		external := func(s *corev1.Service) {
			s.Spec.Type, s.Spec.ExternalName = corev1.ServiceTypeExternalName, "example.com"
		}
		r.services.Create(service("manual", noSelector))
		r.services.Create(service("external", external))
		for _, name := range []string{"manual", "external"} {
			r.endpoints.Create(byHand(name))
		}
		r.start(reconciler.Options{})
		r.pods.Create(pod("10.0.0.1", "external"))
		r.endpoints.Create(byHand("before-its-service"))
		r.wantWrites("Endpoints made by hand")

		r.services.Update(service("external"))
		r.want("it becomes an ordinary Service", "external", "10.0.0.1")
		r.services.Update(service("external", external))
		r.want("and an external one again", "external", "10.0.0.1")
		r.services.Delete("shop", "manual")
		r.want("the Service goes", "manual", "none")
	})
}

func TestLeftoversAreDeletedAtStart(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.endpoints.Create(byHand("leftover"))
		r.endpoints.Create(byHand("election", func(e *corev1.Endpoints) {
			e.Annotations = map[string]string{resourcelock.LeaderElectionRecordAnnotationKey: "{}"}
		}))
		r.start(reconciler.Options{})
		r.want("at the start", "leftover", "none")
		r.want("at the start", "election", "192.0.2.1")
	})
}

// TestUncachedEndpointsAreDeleted: the cache gets the Endpoints only after the deletion of their
// Service.
func TestUncachedEndpointsAreDeleted(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.delayEndpoints(time.Second)
		r.services.Create(service("manual", noSelector))
		r.start(reconciler.Options{})
		time.Sleep(time.Minute)
		synctest.Wait()
		r.endpoints.Create(byHand("manual"))
		r.services.Delete("shop", "manual")
		time.Sleep(time.Minute)
		r.want("the Service goes", "manual", "none")
	})
}

func TestDeletedEndpointsAreRecreated(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.services.Create(service("web"))
		r.pods.Create(pod("10.0.0.1", "web"))
		r.start(reconciler.Options{})
		r.endpoints.Delete("shop", "web")
		r.want("deleted", "web", "10.0.0.1")
		r.endpoints.Update(byHand("web"))
		r.want("changed, which no event is for", "web", "192.0.2.1")
		r.pods.Update(pod("10.0.0.1", "web", isNotReady))
		r.want("at the next change", "web", "not:10.0.0.1")
	})
}

// TestBatching creates Pods one after the other, as in a rollout.
func TestBatching(t *testing.T) {
	rollout := func(r *rig) {
		for i := range 20 {
			r.pods.Create(pod(fmt.Sprintf("10.0.0.%d", i), "web"))
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
		}
		time.Sleep(time.Minute)
	}
	for _, test := range []struct {
		period time.Duration
		writes int
	}{{0, 20}, {time.Second, 2}} {
		inBubble(t, func(t *testing.T, r *rig) {
			r.services.Create(service("web"))
			r.start(reconciler.Options{BatchPeriod: test.period})
			r.wantWrites("at the start", "POST")
			rollout(r)
			if got := len(r.writes()); got != test.writes {
				t.Errorf("%d writes with a period of %v, want %d", got, test.period, test.writes)
			}
			r.services.Create(service("api"))
			r.wantWrites("a Service does not wait", "POST")
		})
	}
}

func TestFailuresAreRetriedAndReported(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		end := r.server.Inject(sourcetest.Fault{On: sourcetest.Write, Resource: listers.EndpointsResource(), Times: sourcetest.Always, Do: sourcetest.Refuse(http.StatusInternalServerError)})
		r.services.Create(service("web"))
		r.start(reconciler.Options{})
		time.Sleep(time.Hour)
		if got := len(r.writes()); got != 16 {
			t.Errorf("%d attempts to create, want 16", got)
		}
		if got := len(r.recorder.Events); got != 16 {
			t.Errorf("%d events, want 16", got)
		}
		if got, want := <-r.recorder.Events, "Warning FailedToCreateEndpoint Failed to create endpoint for service shop/web: "; !strings.HasPrefix(got, want) {
			t.Errorf("the event is %q, want %q", got, want)
		}
		end()
		r.pods.Create(pod("10.0.0.1", "web"))
		r.want("the next change", "web", "10.0.0.1")

		r.server.Inject(sourcetest.Fault{On: sourcetest.Write, Resource: listers.EndpointsResource(), Do: sourcetest.Refuse(http.StatusConflict)})
		r.writes()
		for len(r.recorder.Events) > 0 {
			<-r.recorder.Events
		}
		r.pods.Update(pod("10.0.0.1", "web", isNotReady))
		time.Sleep(time.Minute)
		r.wantWrites("a conflict", "PUT web", "PUT web")
		if got, want := <-r.recorder.Events, "Warning FailedToUpdateEndpoint Failed to update endpoint shop/web: "; !strings.HasPrefix(got, want) {
			t.Errorf("the event is %q, want %q", got, want)
		}
	})
}

func TestTerminatingNamespaceIsLeftAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.server.Inject(sourcetest.Fault{On: sourcetest.Write, Resource: listers.EndpointsResource(), Times: sourcetest.Always, Do: func(a *sourcetest.Answer) {
			a.Status = sourcetest.Status(http.StatusForbidden)
			a.Status.Details = &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}}
		}})
		r.services.Create(service("web"))
		r.start(reconciler.Options{})
		time.Sleep(time.Hour)
		r.wantWrites("in an hour", "POST")
		if n := len(r.recorder.Events); n > 0 {
			t.Errorf("%d events, the first is %s", n, <-r.recorder.Events)
		}
	})
}

// TestNoWriteIsStale: the watch of Endpoints is behind while Pods change all the time. No write
// starts from a state before the last write.
func TestNoWriteIsStale(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.delayEndpoints(100 * time.Millisecond)
		r.services.Create(service("web"))
		r.pods.Create(pod("10.0.0.1", "web"))
		r.start(reconciler.Options{})
		time.Sleep(time.Minute)
		for i := range 500 {
			p := pod("10.0.0.1", "web")
			if i%2 == 0 {
				isNotReady(p)
			}
			r.pods.Update(p)
			time.Sleep(7 * time.Millisecond)
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		r.want("in the end", "web", "10.0.0.1")
		if got := len(r.writes()); got < 30 {
			t.Errorf("only %d writes, want more", got)
		}
		if n := len(r.recorder.Events); n > 0 {
			t.Errorf("%d writes have failed, the first with %s", n, <-r.recorder.Events)
		}
	})
}

// TestOverCapacity: surplus addresses are cut once, and not written at each change.
func TestOverCapacity(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.services.Create(service("web"))
		for i := range 1200 {
			r.pods.Create(pod(fmt.Sprintf("10.0.%d.%d", i/250, i%250), "web"))
		}
		r.start(reconciler.Options{})
		e, _ := r.endpoints.Get("shop", "web")
		if got := len(e.Subsets[0].Addresses); got != 1000 || e.Annotations[corev1.EndpointsOverCapacity] != "truncated" {
			t.Errorf("%d addresses, annotations %v", got, e.Annotations)
		}
		r.writes()
		r.pods.Delete("shop", "pod-10.0.4.100") // one of the cut addresses
		r.wantWrites("the deletion of a cut Pod")
	})
}

// TestPodFindsFewServices: a Pod finds few Services, even in a namespace with many that share a
// label.
func TestPodFindsFewServices(t *testing.T) {
	var all []*corev1.Service
	for n := range 1000 {
		all = append(all, service(fmt.Sprint("service-", n), func(s *corev1.Service) { s.Spec.Selector["part-of"] = "shop" }))
	}
	services := listers.NewServiceLister(storetest.New(t, all...)).Services("shop")
	p := pod("10.0.0.1", "service-700", func(p *corev1.Pod) { p.Labels["part-of"] = "shop" })
	var found []string
	for _, pair := range selectors.OfPod(p.Labels) {
		for s := range services.BySelector(pair) {
			found = append(found, s.Name)
		}
	}
	if !slices.Equal(found, []string{"service-700"}) {
		t.Errorf("the Pod finds %d Services: %.5q", len(found), found)
	}
}

func TestWrongOptions(t *testing.T) {
	client, err := source.NewClient(sourcetest.New().Config())
	if err != nil {
		t.Fatal(err)
	}
	for want, options := range map[string]reconciler.Options{
		"reconciler.New: negative BatchPeriod -1s":                            {BatchPeriod: -time.Second},
		`reconciler.New: controller.New "endpoints": negative Concurrency -1`: {Concurrency: -1},
	} {
		if _, err := reconciler.New(client, informers.NewSharedInformerFactory(client), options); err == nil || err.Error() != want {
			t.Errorf("New: error %v, want %s", err, want)
		}
	}
}
