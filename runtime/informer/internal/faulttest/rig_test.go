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
	// duringSync causes a fault of the first sync; it runs before the informer does. The server has
	// 20 Pods by then, unless empty is set.
	duringSync func(g *rig)
	// whileWatching causes a fault while the informer watches.
	whileWatching func(g *rig)
	// reasons are the reasons that the status must have meanwhile, and no others.
	reasons []reason.Reason
	// within is the time, from the start of the fault, after which the informer must have
	// recovered. 0 means a minute.
	within time.Duration
	// requests is the largest number of requests within that time.
	requests int
	// check, if not nil, is called at the end of the fault.
	check func(g *rig)
	// formats are the formats with which the row runs; nil means all.
	formats []string
	// listOnly turns watch-lists off; paged also reads pages of 5 objects.
	listOnly, paged bool
	// selects makes the informer select Pods with the label app=web. Changes remove the label, and
	// add it again.
	selects  bool
	empty    bool   // the server has no Pods at first
	unserved bool   // the server has the resource only after 12 s
	restored bool   // the server's versions go back
	image    string // of Pods written from now on; "" means web:1
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
					g := &rig{fault: f, media: format.media}
					synctest.Test(t, func(t *testing.T) {
						g.t = t
						g.run()
					})
					g.t = t
					g.checkMemory()
				})
			}
		})
	}
}

// rig is a server, an informer of its Pods, and three handlers.
type rig struct {
	fault
	t     *testing.T
	media string

	server *sourcetest.Server
	pods   *sourcetest.Collection[*corev1.Pod]
	writes *writes

	informer    *informer.SharedIndexInformer[*corev1.Pod]
	handlers    []*history
	decoded     *atomic.Int64 // objects made by the source that are still referenced
	begun       time.Time     // of the fault
	before      int           // number of requests before the fault
	sent        atomic.Int64  // requests
	contentType atomic.Value  // Content-Type of the last answer
	failures    chan struct{} // gets a token for each failure
	jsonOnly    atomic.Bool   // from now on, the client requests only JSON

	mu           sync.Mutex            // guards the rest
	reasonCounts map[reason.Reason]int // how often the status had each reason
	errs         []error
}

func (g *rig) newServer() {
	g.server = sourcetest.New()
	g.server.MediaTypes = []string{g.media, sourcetest.JSON} // JSON is always supported
	g.writes = &writes{states: map[object.Key]map[id]bool{}}
	g.decoded = &atomic.Int64{}
	g.failures = make(chan struct{}, 1000)
	if !g.unserved {
		g.serve()
	}
}

func (g *rig) run() {
	g.newServer()
	if g.fault.within == 0 {
		g.fault.within = time.Minute
	}
	g.newInformer(g.server.Config())
	g.addHandler("first", 0)
	g.addHandler("slow", 20*time.Millisecond, informer.WithBacklogThreshold(3))

	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	g.begin()
	if g.duringSync != nil {
		g.duringSync(g)
	}
	go func() { ended <- g.informer.Run(ctx) }()
	if g.duringSync != nil {
		g.pass()
	} else {
		time.Sleep(time.Second)
		g.churn()
		time.Sleep(time.Second)
		g.checkRecovered("before the fault")
		g.begin()
		g.whileWatching(g)
		g.pass()
	}
	g.checkRecovered("after the fault")
	g.checkReasons()
	g.checkRequests()
	if g.check != nil {
		g.check(g)
	}
	if !g.t.Failed() {
		g.churn()
		time.Sleep(5 * time.Second)
		g.checkRecovered("at the end")
	}
	cancel()
	<-ended
}

// pass lets the time pass in which the informer must recover. There are changes every 50 s, so that
// the server has bookmarks to send, and a handler is added late. The last fifth of a minute is
// quiet.
func (g *rig) pass() {
	end := time.Now().Add(g.within)
	time.Sleep(12 * time.Second)
	if g.pods == nil {
		g.serve()
	}
	for i := 0; ; i++ {
		g.churn()
		if i == 0 {
			g.addHandler("late", 0)
		}
		if time.Until(end) < 62*time.Second {
			break
		}
		time.Sleep(50 * time.Second)
	}
	time.Sleep(time.Until(end))
}

// begin begins a fault: its time and its count of requests.
func (g *rig) begin() {
	g.begun, g.before = time.Now(), len(g.server.Requests())
	g.mu.Lock()
	defer g.mu.Unlock()
	g.reasonCounts, g.errs = map[reason.Reason]int{}, nil
}

// serve makes the server serve Pods.
func (g *rig) serve() {
	g.pods = sourcetest.Serve[*corev1.Pod](g.server, podResource, "Pod")
	if g.empty {
		return
	}
	for i := range 20 {
		g.create(fmt.Sprintf("p%02d", i))
	}
}

// pod returns a Pod to write to the server.
func (g *rig) pod(name string) *corev1.Pod {
	made := pod(name)
	if g.image != "" {
		made.Spec.Containers[0].Image = g.image
	}
	return made
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
	}
}

func (g *rig) create(name string) {
	g.writes.write(func() *corev1.Pod { return g.pods.Create(g.pod(name)) })
}

func (g *rig) update(name string) {
	g.writes.write(func() *corev1.Pod {
		next := g.pod(name)
		if old, _ := g.pods.Get("shop", name); g.selects && selected(old) {
			next.Labels["app"] = "db"
		}
		return g.pods.Update(next)
	})
}

func selected(pod *corev1.Pod) bool { return pod.Labels["app"] == "web" }

func (g *rig) remove(name string) {
	g.writes.write(func() *corev1.Pod { return g.pods.Delete("shop", name) })
}

// churn makes changes of all kinds. It may be called again.
func (g *rig) churn() {
	all := g.pods.All()
	for i, pod := range all {
		switch {
		case i%10 == 3:
			g.remove(pod.Name)
			g.create(pod.Name)
			g.update(pod.Name)
		case i%10 == 7:
			g.remove(pod.Name)
		case i%2 == 0:
			g.update(pod.Name)
		}
	}
	for i := range 3 {
		name := "c" + g.server.ResourceVersion()
		g.create(name)
		if i == 1 {
			g.remove(name)
		}
	}
}

func (g *rig) newInformer(config *rest.Config, more ...informer.Option) {
	config.WrapTransport = func(rt http.RoundTripper) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			if g.sent.Add(1) > 1000 {
				// Otherwise no time passes in a flood of requests, and the test never ends.
				time.Sleep(time.Second)
			}
			if g.jsonOnly.Load() {
				req = req.Clone(req.Context())
				req.Header.Set("Accept", sourcetest.JSON)
			}
			resp, err := rt.RoundTrip(req)
			if err == nil && resp.StatusCode == http.StatusOK {
				g.contentType.Store(resp.Header.Get("Content-Type"))
			}
			return resp, err
		})
	}
	client, err := source.NewClient(config)
	if err != nil {
		g.t.Fatal(err)
	}
	var selection source.Options
	if g.selects {
		selection.LabelSelector = "app=web"
	}
	selection.NewObject = func() object.Object {
		pod := &corev1.Pod{}
		g.decoded.Add(1)
		runtime.AddCleanup(pod, func(n *atomic.Int64) { n.Add(-1) }, g.decoded)
		return pod
	}
	src, err := source.New[*corev1.Pod](client, podResource, selection)
	if err != nil {
		g.t.Fatal(err)
	}
	opts := []informer.Option{
		informer.WithTuning(reflector.Tuning{DisableWatchList: g.listOnly || g.paged}),
		informer.WithErrorHandler(func(_ string, err error) { g.failed(err) }),
		informer.WithLogger(klog.Logger(logr.New(silence{}))),
	}
	opts = append(opts, more...)
	if g.paged {
		opts = append(opts, informer.WithTuning(reflector.Tuning{PageSize: 5}))
	}
	if g.informer, err = informer.New(src, opts...); err != nil {
		g.t.Fatal(err)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// silence drops logs: the tests check the status.
type silence struct{}

func (silence) Init(logr.RuntimeInfo)          {}
func (silence) Enabled(int) bool               { return false }
func (silence) Info(int, string, ...any)       {}
func (silence) Error(error, string, ...any)    {}
func (silence) WithValues(...any) logr.LogSink { return silence{} }
func (silence) WithName(string) logr.LogSink   { return silence{} }

// failed records the status's reason at a failure.
func (g *rig) failed(err error) {
	status := g.informer.Status().Reflector
	g.mu.Lock()
	defer g.mu.Unlock()
	g.reasonCounts[status.Reason]++
	g.errs = append(g.errs, err)
	select {
	case g.failures <- struct{}{}:
	default:
	}
}

func (g *rig) addHandler(name string, pause time.Duration, opts ...informer.HandlerOption) {
	h := newHistory(name, g.writes)
	h.pause, h.restored = pause, g.restored
	reg, err := g.informer.AddEventHandler(h, opts...)
	if err != nil {
		g.t.Fatal(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.synced = reg.HasSynced
	g.handlers = append(g.handlers, h)
}
