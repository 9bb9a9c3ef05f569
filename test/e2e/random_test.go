// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

// subject is an informer on its own bad connection.
type subject struct {
	name     string
	proxy    *proxy
	informer *informer.SharedIndexInformer[*Crate]
	fast     *history[*Crate]
	slow     *history[*Crate]
	selector string
	stop     func() // set by run
}

// TestRandomChanges makes hundreds of random changes. Meanwhile informers stop and run again,
// connections break, streams end, versions expire and answers are truncated. In the end all stores
// and handlers agree with the server, and each handler's history makes sense.
func TestRandomChanges(t *testing.T) {
	t.Parallel()
	rnd := randomly(t)
	ns := shared.crates(t)
	ns.createMany(t, 15, func(c *Crate, n int) { c.Labels = map[string]string{"tier": tiers[n%3]} })

	byList := []informer.Option{informer.WithTuning(reflector.Tuning{DisableWatchList: true, PageSize: 4})}
	subjects := []*subject{
		newSubject(t, ns, "watch-list", ""),
		newSubject(t, ns, "pages", "", byList...),
		newSubject(t, ns, "watch-list of gold", "tier=gold"),
		newSubject(t, ns, "pages of gold", "tier=gold", byList...),
	}
	const rounds, changes = 3, 150
	for range rounds {
		for _, s := range subjects { // started again in each round, so that backoffs don't add up
			s.run(t)
		}
		faultAt := make([]int, len(subjects))
		for n := range faultAt {
			faultAt[n] = rnd.IntN(changes)
		}
		for change := range changes {
			for n, s := range subjects {
				if faultAt[n] == change {
					s.disturb(t, rnd)
				}
			}
			ns.randomChange(t, rnd)
		}
		for _, s := range subjects {
			want := ns.state(t, metav1.ListOptions{LabelSelector: s.selector})
			agree(t, want, s.fast, s.informer.Store())
			agree(t, want, s.slow)
			s.stop()
		}
	}
	for _, s := range subjects {
		status := s.informer.Status().Reflector
		t.Logf("%s: %d callbacks, %d of the slow handler; %d requests, %d relists, last error: %v", s.name,
			len(s.fast.callbacks()), len(s.slow.callbacks()), len(s.proxy.requests(anyRequest)), status.Relists, status.LastError)
		if n := len(s.proxy.requests(anyRequest)); n <= rounds {
			t.Errorf("%s: %d requests, want more, because faults end requests", s.name, n)
		}
	}
}

var tiers = []string{"gold", "silver", "tin"}

func newSubject(t *testing.T, ns collection, name, selector string, opts ...informer.Option) *subject {
	t.Helper()
	s := &subject{name: name, selector: selector, proxy: newProxy(t, shared.url, nil)}
	parsed, err := labels.Parse(selector)
	if err != nil {
		t.Fatal(err)
	}
	_, i := crateInformer(t, s.proxy.url, ns, append(opts, informer.WithLabelSelector(parsed))...)
	s.informer = i
	s.fast, _ = listen(t, i, informer.WithBacklogThreshold(informer.Never))
	s.slow = newHistory[*Crate](t)
	if _, err := i.AddEventHandler(slowHandler{s.slow}, informer.WithBacklogThreshold(3)); err != nil {
		t.Fatal(err)
	}
	return s
}

// run runs the informer until stop.
func (s *subject) run(t *testing.T) {
	ctx, cancel := context.WithCancel(withTestLogger(t.Context(), t))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.informer.Run(ctx)
	}()
	s.stop = func() { cancel(); <-ended }
	t.Cleanup(s.stop)
}

// slowHandler is so slow that its backlog merges.
type slowHandler struct{ informer.Handler[*Crate] }

func (l slowHandler) OnUpdate(old, obj *Crate) {
	time.Sleep(2 * time.Millisecond) // the duration of a callback
	l.Handler.OnUpdate(old, obj)
}

// disturb injects a fault. The informer notices most faults at once.
func (s *subject) disturb(t *testing.T, rnd *rand.Rand) {
	some := 1 + rnd.IntN(6000)
	gone := next(s.proxy, fault{refuse: expired})
	kind := rnd.IntN(6)
	t.Logf("%s: fault %d (%d)", s.name, kind, some)
	switch kind {
	case 0:
		s.proxy.cut()
	case 1:
		s.proxy.end()
	case 2: // the watch has expired
		s.proxy.setFaults(gone)
		s.proxy.end()
	case 3: // the watch has expired, and the relist breaks off
		begun := len(s.proxy.requests(anyRequest))
		s.proxy.setFaults(func(r *request) fault {
			if r.number == begun+1 {
				return fault{cut: some}
			}
			return gone(r)
		})
		s.proxy.end()
	case 4: // the next stream breaks off early
		s.proxy.setFaults(next(s.proxy, fault{cut: some}))
		s.proxy.end()
	case 5: // the server has an internal error
		s.proxy.setFaults(next(s.proxy, fault{refuse: internal}))
		s.proxy.cut()
	}
}

// randomChange changes one of a few objects, so most of them have a long history.
func (i collection) randomChange(t *testing.T, rnd *rand.Rand) {
	t.Helper()
	name := fmt.Sprintf("crate-%03d", rnd.IntN(20))
	tier := tiers[rnd.IntN(3)]
	_, err := i.client().Get(deadline(t), name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	switch kind := rnd.IntN(10); {
	case err != nil:
		i.create(t, crate(name, labelled("tier", tier)))
	case kind < 2:
		i.delete(t, name)
	case kind < 4:
		i.delete(t, name)
		i.create(t, crate(name, labelled("tier", tier)))
	case kind < 6:
		i.patch(t, name, `{"metadata":{"labels":{"tier":"`+tier+`"}}}`)
	default:
		i.setWeight(t, name, rnd.Int64N(1000))
	}
}
