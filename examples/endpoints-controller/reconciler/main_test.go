// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 Endpoints are what this package is about.

package reconciler_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/examples/endpoints-controller/generated/informers"
	listers "github.com/informer-gen/informer-gen/examples/endpoints-controller/generated/listers/core/v1"
	"github.com/informer-gen/informer-gen/examples/endpoints-controller/reconciler"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errStop = errors.New("the test stops the reconciler")

// rig is a cluster in memory, and the reconciler started by start.
type rig struct {
	t         *testing.T
	server    *sourcetest.Server
	services  *sourcetest.Collection[*corev1.Service]
	pods      *sourcetest.Collection[*corev1.Pod]
	endpoints *sourcetest.Collection[*corev1.Endpoints]
	recorder  *events.FakeRecorder
	seen      int // requests before the last call of writes
}

// inBubble runs a test with a rig in a bubble. It can't flake: time passes only while all
// goroutines wait.
func inBubble(t *testing.T, test func(t *testing.T, r *rig)) {
	synctest.Test(t, func(t *testing.T) {
		server := sourcetest.New()
		test(t, &rig{
			t: t, server: server, recorder: events.NewFakeRecorder(1000),
			services:  sourcetest.Serve[*corev1.Service](server, listers.ServiceResource(), ""),
			pods:      sourcetest.Serve[*corev1.Pod](server, listers.PodResource(), ""),
			endpoints: sourcetest.Serve[*corev1.Endpoints](server, listers.EndpointsResource(), ""),
		})
	})
}

// start runs a reconciler until stop is called or the test ends. It returns when the reconciler has
// settled.
func (r *rig) start(options reconciler.Options) (stop func()) {
	r.t.Helper()
	client, err := source.NewClient(r.server.Config())
	if err != nil {
		r.t.Fatal(err)
	}
	options.Recorder = r.recorder
	made, err := reconciler.New(client, informers.NewSharedInformerFactory(client), options)
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(klog.NewContext(context.Background(), logr.Discard()))
	result := make(chan error, 1)
	go func() { result <- made.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel(errStop)
		if err := <-result; !errors.Is(err, errStop) {
			r.t.Errorf("Run returned %v, want %v", err, errStop)
		}
	})
	r.t.Cleanup(stop)
	synctest.Wait()
	return stop
}

// delayEndpoints delays each event of Endpoints.
func (r *rig) delayEndpoints(delay time.Duration) {
	late := func(e sourcetest.Event) []sourcetest.Event {
		time.Sleep(delay)
		return []sourcetest.Event{e}
	}
	r.server.Inject(sourcetest.Fault{
		On: sourcetest.Watch | sourcetest.WatchList, Resource: listers.EndpointsResource(), Times: sourcetest.Always,
		Do: func(a *sourcetest.Answer) { a.Events = late },
	})
}

// writes returns the writes of Endpoints since its last call, in order: method and name.
func (r *rig) writes() (writes []string) {
	synctest.Wait()
	requests := r.server.Requests()
	for _, request := range requests[r.seen:] {
		if request.Verb == sourcetest.Write && request.Resource == listers.EndpointsResource() {
			writes = append(writes, strings.TrimSpace(request.Method+" "+request.Name))
		}
	}
	r.seen = len(requests)
	return writes
}

func (r *rig) wantWrites(when string, want ...string) {
	r.t.Helper()
	if got := r.writes(); !slices.Equal(got, want) {
		r.t.Errorf("%s: the writes are %q, want %q", when, got, want)
	}
}

// want checks the addresses of a Service: "10.0.0.1 not:10.0.0.2"; "none" if it has no Endpoints.
func (r *rig) want(when, name, want string) {
	r.t.Helper()
	synctest.Wait()
	got := "none"
	if e, ok := r.endpoints.Get("shop", name); ok {
		var words []string
		for _, s := range e.Subsets {
			for _, a := range s.Addresses {
				words = append(words, a.IP)
			}
			for _, a := range s.NotReadyAddresses {
				words = append(words, "not:"+a.IP)
			}
		}
		got = strings.Join(words, " ")
	}
	if got != want {
		r.t.Errorf("%s: the Endpoints of %s are %q, want %q", when, name, got, want)
	}
}

// service returns a Service of the Pods with app=name.
func service(name string, change ...func(*corev1.Service)) *corev1.Service {
	s := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeClusterIP, ClusterIP: "10.96.0.1", IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol},
			Selector: map[string]string{"app": name},
			Ports:    []corev1.ServicePort{{Port: 80, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(8080)}},
		},
	}
	for _, f := range change {
		f(s)
	}
	return s
}

func noSelector(s *corev1.Service) { s.Spec.Selector = nil }

// pod returns a ready Pod at an IP with app=app.
func pod(ip, app string, change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "pod-" + ip, Labels: map[string]string{"app": app}},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}},
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		},
	}
	for _, f := range change {
		f(p)
	}
	return p
}

func isNotReady(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }

// byHand returns Endpoints made by a user.
func byHand(name string, change ...func(*corev1.Endpoints)) *corev1.Endpoints {
	e := &corev1.Endpoints{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Subsets:    []corev1.EndpointSubset{{Addresses: []corev1.EndpointAddress{{IP: "192.0.2.1"}}}},
	}
	for _, f := range change {
		f(e)
	}
	return e
}
