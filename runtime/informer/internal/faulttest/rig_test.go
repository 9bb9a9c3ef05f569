// SPDX-License-Identifier: Apache-2.0

package faulttest

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var podResource = corev1.SchemeGroupVersion.WithResource("pods")

// fault is one row of the tables.
type fault struct {
	name string
	// first causes a fault of the first sync; it runs before the informer does. The server has 20
	// Pods by then, unless empty is set.
	first func(w *world)
	// later causes a fault while the informer watches.
	later func(w *world)
	// reasons are those that the status must name meanwhile, all of them and no others. nil means
	// none.
	reasons []reason.Reason
	// within is the time, from the start of the fault, after which the informer must have
	// recovered. 0 means a minute.
	within time.Duration
	// requests is how many requests the informer may make within that time.
	requests int
	// check, if not nil, is called at the end of the fault.
	check func(w *world)
	// formats are the formats with which the row runs; nil means all.
	formats []string
	// lists turns watch-lists off; paged also reads pages of 5 objects.
	lists, paged bool
	// selects has the informer select Pods with the label app=web. Changes take the label away from
	// Pods, and give it back.
	selects  bool
	empty    bool   // the server has no Pods at first
	unserved bool   // the server has the resource only after 12 s
	back     bool   // the server's versions go back
	image    string // that Pods have from now on; "" means web:1
}

var formats = []struct{ name, media string }{
	{"json", sourcetest.JSON}, {"protobuf", sourcetest.Protobuf},
}

// run runs the rows of a table, each in every format.
func run(t *testing.T, faults []fault) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			for _, format := range formats {
				if f.formats != nil && !slices.Contains(f.formats, format.name) {
					continue
				}
				t.Run(format.name, func(t *testing.T) {
					w := &world{fault: f, media: format.media}
					synctest.Test(t, func(t *testing.T) {
						w.t = t
						w.run()
					})
					w.t = t
					w.checkMemory()
				})
			}
		})
	}
}

// world is a server, an informer over it and three handlers.
type world struct {
	fault
	t     *testing.T
	media string

	server *sourcetest.Server
	pods   *sourcetest.Collection[*corev1.Pod]
	truth  *truth

	informer *informer.SharedIndexInformer[*corev1.Pod]
	handlers []*history
	decoded  *atomic.Int64 // objects that the source has made and that are referenced
	begun    time.Time     // of the fault
	before   int           // requests until then
	asked    atomic.Int64  // requests
	answered atomic.Value  // Content-Type of the last answer
	failures chan struct{} // has one element for each
	jsonOnly atomic.Bool   // from now on, the client gets nothing else

	mu   sync.Mutex            // mu guards what follows
	said map[reason.Reason]int // how often the status named a reason
	errs []error
}

func (w *world) newServer() {
	w.server = sourcetest.New()
	w.server.MediaTypes = []string{w.media, sourcetest.JSON} // which servers always have
	w.truth = &truth{states: map[object.Key]map[id]bool{}}
	w.decoded = &atomic.Int64{}
	w.failures = make(chan struct{}, 1000)
	if !w.unserved {
		w.serve()
	}
}

func (w *world) run() {
	w.newServer()
	if w.fault.within == 0 {
		w.fault.within = time.Minute
	}
	w.newInformer(w.server.Config())
	w.handle("first", 0)
	w.handle("slow", 20*time.Millisecond, informer.WithBacklogThreshold(3))

	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	w.begin()
	if w.first != nil {
		w.first(w)
	}
	go func() { ended <- w.informer.Run(ctx) }()
	if w.first != nil {
		w.pass()
	} else {
		time.Sleep(time.Second)
		w.churn()
		time.Sleep(time.Second)
		w.well("before the fault")
		w.begin()
		w.later(w)
		w.pass()
	}
	w.well("after the fault")
	w.checkReasons()
	w.checkRequests()
	if w.check != nil {
		w.check(w)
	}
	if !w.t.Failed() {
		w.churn()
		time.Sleep(5 * time.Second)
		w.well("at the end")
	}
	cancel()
	<-ended
}

// pass lets the time pass in which the informer must recover. There are changes every 50 s, so that
// the server has bookmarks to send, and a handler is added late. The last fifth of a minute is
// quiet.
func (w *world) pass() {
	end := time.Now().Add(w.within)
	time.Sleep(12 * time.Second)
	if w.pods == nil {
		w.serve()
	}
	for i := 0; ; i++ {
		w.churn()
		if i == 0 {
			w.handle("late", 0)
		}
		if time.Until(end) < 62*time.Second {
			break
		}
		time.Sleep(50 * time.Second)
	}
	time.Sleep(time.Until(end))
}

// begin starts the time and the count of requests of the fault.
func (w *world) begin() {
	w.begun, w.before = time.Now(), len(w.server.Requests())
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said, w.errs = map[reason.Reason]int{}, nil
}

// serve makes the server have Pods.
func (w *world) serve() {
	w.pods = sourcetest.Serve[*corev1.Pod](w.server, podResource, "Pod")
	if w.empty {
		return
	}
	for i := range 20 {
		w.create(fmt.Sprintf("p%02d", i))
	}
}

// pod makes a Pod to write to the server.
func (w *world) pod(name string) *corev1.Pod {
	made := pod(name)
	if w.image != "" {
		made.Spec.Containers[0].Image = w.image
	}
	return made
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
	}
}

func (w *world) create(name string) {
	w.truth.write(func() *corev1.Pod { return w.pods.Create(w.pod(name)) })
}

func (w *world) update(name string) {
	w.truth.write(func() *corev1.Pod {
		next := w.pod(name)
		if old, _ := w.pods.Get("shop", name); w.selects && selected(old) {
			next.Labels["app"] = "db"
		}
		return w.pods.Update(next)
	})
}

func selected(pod *corev1.Pod) bool { return pod.Labels["app"] == "web" }

func (w *world) remove(name string) {
	w.truth.write(func() *corev1.Pod { return w.pods.Delete("shop", name) })
}

// churn makes changes of all kinds. It can be repeated.
func (w *world) churn() {
	all := w.pods.All()
	for i, pod := range all {
		switch {
		case i%10 == 3:
			w.remove(pod.Name)
			w.create(pod.Name)
			w.update(pod.Name)
		case i%10 == 7:
			w.remove(pod.Name)
		case i%2 == 0:
			w.update(pod.Name)
		}
	}
	for i := range 3 {
		name := "c" + w.server.ResourceVersion()
		w.create(name)
		if i == 1 {
			w.remove(name)
		}
	}
}

func (w *world) newInformer(config *rest.Config, more ...informer.Option) {
	config.WrapTransport = func(rt http.RoundTripper) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			if w.asked.Add(1) > 1000 {
				// Otherwise no time passes in a flood of requests, and the test never ends.
				time.Sleep(time.Second)
			}
			if w.jsonOnly.Load() {
				req = req.Clone(req.Context())
				req.Header.Set("Accept", sourcetest.JSON)
			}
			resp, err := rt.RoundTrip(req)
			if err == nil && resp.StatusCode == http.StatusOK {
				w.answered.Store(resp.Header.Get("Content-Type"))
			}
			return resp, err
		})
	}
	client, err := source.NewClient(config)
	if err != nil {
		w.t.Fatal(err)
	}
	var selection source.Options
	if w.selects {
		selection.LabelSelector = "app=web"
	}
	selection.NewObject = func() object.Object {
		pod := &corev1.Pod{}
		w.decoded.Add(1)
		runtime.AddCleanup(pod, func(n *atomic.Int64) { n.Add(-1) }, w.decoded)
		return pod
	}
	src, err := source.New[*corev1.Pod](client, podResource, selection)
	if err != nil {
		w.t.Fatal(err)
	}
	opts := []informer.Option{
		informer.WithTuning(reflector.Tuning{DisableWatchList: w.lists || w.paged}),
		informer.WithErrorHandler(func(_ string, err error) { w.failed(err) }),
		informer.WithLogger(klog.Logger(logr.New(silence{}))),
	}
	opts = append(opts, more...)
	if w.paged {
		opts = append(opts, informer.WithTuning(reflector.Tuning{PageSize: 5}))
	}
	if w.informer, err = informer.New(src, opts...); err != nil {
		w.t.Fatal(err)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// silence drops logs: the tests look at the status.
type silence struct{}

func (silence) Init(logr.RuntimeInfo)          {}
func (silence) Enabled(int) bool               { return false }
func (silence) Info(int, string, ...any)       {}
func (silence) Error(error, string, ...any)    {}
func (silence) WithValues(...any) logr.LogSink { return silence{} }
func (silence) WithName(string) logr.LogSink   { return silence{} }

// failed notes the reason in the status at the moment of a failure.
func (w *world) failed(err error) {
	status := w.informer.Status().Reflector
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said[status.Reason]++
	w.errs = append(w.errs, err)
	select {
	case w.failures <- struct{}{}:
	default:
	}
}

func (w *world) handle(name string, pause time.Duration, opts ...informer.HandlerOption) {
	h := newHistory(name, w.truth)
	h.pause, h.back = pause, w.back
	reg, err := w.informer.AddEventHandler(h, opts...)
	if err != nil {
		w.t.Fatal(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.synced = reg.HasSynced
	w.handlers = append(w.handlers, h)
}
