// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/lister"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// stateProvider keeps the function that reads the state of the newest informer.
type stateProvider struct{ read func() metrics.InformerState }

func (p *stateProvider) BeginInformer(_ string, read func() metrics.InformerState) metrics.InformerRecorder {
	p.read = read
	return failureRecorder{}
}

// failureRecorder panics at a failure.
type failureRecorder struct{}

func (failureRecorder) ListDone(time.Duration, int)      {}
func (failureRecorder) WatchDone(time.Duration, int)     {}
func (failureRecorder) BatchDone(time.Duration, int)     {}
func (failureRecorder) Failed(reason string)             { panic("a failure: " + reason) }
func (failureRecorder) CallbackDone(time.Duration, bool) {}
func (failureRecorder) Close()                           {}
func (failureRecorder) BeginHandler(string, func() metrics.HandlerState) metrics.HandlerRecorder {
	return failureRecorder{}
}

// TestWithOptionalResource shows an informer before its resource exists, after it was made, after
// it was deleted, and after it was made again.
func TestWithOptionalResource(t *testing.T) {
	inBubble(t, "typed", optionalResource[*appsv1.Deployment])
	inBubble(t, "dynamic", optionalResource[*unstructured.Unstructured])
	inBubble(t, "metadata", optionalResource[*metav1.PartialObjectMetadata])
}

func optionalResource[T object.Object](t *testing.T) {
	server := &shop{Server: sourcetest.New()}
	var log strings.Builder
	var provider stateProvider
	f := server.Factory(t, informer.WithLogger(logTo(&log)), informer.WithMetrics(&provider), informer.WithOptionalResource(),
		informer.WithErrorHandler(func(_ string, err error) { t.Errorf("a failure: %v", err) }))
	i, j := factories.For[T](f, deploymentResource), &journal[T]{}
	informertest.Add(t, i, j)
	wantState := func(when string, state reflector.State, synced bool, objects int) {
		t.Helper()
		// It is never waited for, because it either has synced or waits for the resource.
		noError(t, f.WaitForCacheSync(t.Context(), informer.FailOn()))
		noError(t, i.WaitForCacheSync(t.Context(), informer.FailOn(reason.NotFound)))
		s := i.Status()
		if s.Reflector.State != state || s.Synced != synced || s.Objects != objects || s.Reflector.Reason != reason.None || s.WaitsForResource() == synced {
			t.Errorf("%s: Status() = %v", when, s)
		}
		if m := provider.read(); !m.Synced || !m.Watching || m.Failures != 0 || m.Objects != objects {
			t.Errorf("%s: the metrics have %+v", when, m)
		}
	}
	deployments := lister.New(i.Store(), deploymentResource.GroupResource())

	run(t, f)
	time.Sleep(time.Hour)
	wantState("before", reflector.StateAbsent, false, 0)
	_, err := deployments.Namespace("ns").Get("blue")
	wantNotSynced(t, err, "is waiting for the resource to exist for 1h0m0s")
	_, err = deployments.List(labels.Everything())
	wantNotSynced(t, err, "is waiting for the resource to exist")
	for range deployments.All() {
		t.Error("the store has an object")
	}

	collection := sourcetest.Serve[*appsv1.Deployment](server.Server, deploymentResource, "Deployment")
	collection.Create(deployment("ns", "blue"))
	time.Sleep(30 * time.Second)
	wantState("made", reflector.StateWatching, true, 1)
	j.Saw(t, "+blue@2 initial")

	// API servers delete the objects, then the resource.
	collection.Delete("ns", "blue")
	restore := server.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: sourcetest.Refuse(http.StatusNotFound)})
	synctest.Wait()
	server.EndWatches()
	time.Sleep(time.Hour)
	wantState("deleted", reflector.StateAbsent, true, 0)
	j.Saw(t, "-blue@3")
	if all, err := deployments.List(nil); len(all) != 0 || err != nil {
		t.Errorf("List() = %v, %v", all, err)
	}

	collection.Create(deployment("ns", "green"))
	restore()
	time.Sleep(30 * time.Second)
	wantState("made again", reflector.StateWatching, true, 1)
	j.Saw(t, "+green@4")
	j.Check(t, i)
	shutdown(t, f)
	wantLines := []string{"does not have the resource; will wait", "has the resource now", "does not have the resource; will wait", "has the resource now"}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != len(wantLines) {
		t.Fatalf("the log has\n%s", log.String())
	}
	for n, line := range lines {
		if !strings.Contains(line, wantLines[n]) || strings.Contains(line, `"logger"="error"`) {
			t.Errorf("line %d of the log is %s", n+1, line)
		}
	}
}

// TestWithOptionalResourceAndNamespaces has more namespaces than start at a time: those that wait
// for the resource let the others start.
func TestWithOptionalResourceAndNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &shop{Server: sourcetest.New()}
		var namespaces []string
		for n := range 40 {
			namespaces = append(namespaces, fmt.Sprint("ns-", n))
		}
		f := server.Factory(t, informer.WithLogger(discard), informer.WithOptionalResource(), informer.WithNamespace(namespaces...))
		pods := podsOf(f)
		begin := time.Now()
		run(t, f)
		same(t, "the wait", time.Since(begin), time.Duration(0))
		same(t, "waits", pods.Status().WaitsForResource(), true)
		shutdown(t, f)
		same(t, "waits after the end", pods.Status().WaitsForResource(), false)
	})
}

// TestWithOptionalResourceWithoutRights: a missing right is a failure, whether the resource exists
// or not.
func TestWithOptionalResourceWithoutRights(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop()
		server.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: sourcetest.Refuse(http.StatusForbidden)})
		f := server.Factory(t, informer.WithLogger(discard), informer.WithOptionalResource())
		podsOf(f)
		noError(t, f.Start(t.Context()))
		if err := f.WaitForCacheSync(t.Context(), informer.FailOn()); reason.Of(err) != reason.Forbidden {
			t.Errorf("WaitForCacheSync() = %v, want forbidden", err)
		}
		shutdown(t, f)
	})
}

// TestWithOptionalResourceAndEmptyBeforeSync: a resource that doesn't exist has no objects.
func TestWithOptionalResourceAndEmptyBeforeSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &shop{Server: sourcetest.New()}
		f := server.Factory(t, informer.WithLogger(discard), informer.WithOptionalResource(), informer.WithEmptyBeforeSync(true))
		pods := podLister(podsOf(f))
		run(t, f)
		if all, err := pods.List(nil); len(all) != 0 || err != nil {
			t.Errorf("List() = %v, %v; want nothing", all, err)
		}
		shutdown(t, f)
	})
}
