// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/devserver/devservertest"
	"github.com/informer-gen/informer-gen/test/internal/poll"
)

// world is an API server, its relay, and informers of the relay.
type world struct {
	*testing.T
	api      *devserver.Server
	client   kubernetes.Interface // of the API server
	upstream *network             // between the API server and the relay
	relay    *relay
	have     map[string]func() contents // by informer
	selected map[string]string          // selectors by informer
}

// nodes is the number of nodes in the informers' selectors.
const nodes = 2

// TestFaults lets everything fail once. All informers must recover.
func TestFaults(t *testing.T) {
	api := devservertest.Start(t, devserver.Options{BuiltInKinds: true})
	between := func(f fault) func(*world) {
		return func(w *world) { w.during(f, w.relay.http1, w.relay.http2) }
	}
	behind := func(f fault) func(*world) {
		return func(w *world) { w.during(f, w.upstream) }
	}
	for name, happen := range map[string]func(*world){
		"nothing": func(w *world) { w.play(30) },

		"clients are refused":                       between(refused),
		"clients' connections are reset":            between(reset),
		"clients get 500":                           between(internal),
		"clients get 429":                           between(busy),
		"clients get 503":                           between(outOfUse),
		"clients get 410":                           between(gone),
		"answers to clients break off at once":      between(cutAtOnce),
		"answers to clients break off":              between(cutLater),
		"the relay is refused":                      behind(refused),
		"the relay gets 500":                        behind(internal),
		"the relay gets 429":                        behind(busy),
		"the relay gets 410":                        behind(gone),
		"answers to the relay break off":            behind(cutLater),
		"answers to the relay end at once":          behind(cutAtOnce),
		"the relay loses its connections":           func(w *world) { w.relay.loseConnections() },
		"the relay restarts":                        func(w *world) { w.play(10); w.relay.restart(w.T) },
		"the API server ends its watches":           (*world).endWatches,
		"the API server forgets its history":        (*world).expireWatches,
		"the relay is away while much is forgotten": (*world).loseHistory,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, api)
			w.play(30)
			w.settle("at first")
			happen(w)
			w.play(30)
			w.settle("at the end")
		})
	}
}

// newWorld starts a relay and informers.
func newWorld(t *testing.T, api *devserver.Server) *world {
	t.Helper()
	w := &world{T: t, api: api, upstream: newNetwork(t), have: map[string]func() contents{}, selected: map[string]string{}}
	var err error
	if w.client, err = kubernetes.NewForConfig(api.Config()); err != nil {
		t.Fatal(err)
	}
	config := api.Config()
	config.Transport = w.upstream
	w.relay = newRelay(t, config)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	for protocol, to := range w.relay.configs() {
		for whose, read := range readers {
			for _, selector := range []string{"", "spec.nodeName=n0"} {
				name := fmt.Sprint(whose, " over ", protocol, " ", selector)
				w.have[name], w.selected[name] = read(ctx, t, to, selector), selector
			}
		}
	}
	return w
}

func mustParse(t *testing.T, selector string) fields.Selector {
	t.Helper()
	s, err := fields.ParseSelector(selector)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// play makes random changes to Pods.
func (w *world) play(changes int) {
	w.Helper()
	for range changes {
		namespace, n := [...]string{"default", "kube-system"}[rand.N(2)], rand.N(10)
		name, client := fmt.Sprint("pod-", n), w.client.CoreV1().Pods(namespace)
		_, err := client.Get(w.Context(), name, metav1.GetOptions{})
		switch {
		case err != nil:
			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: name},
				Spec:       corev1.PodSpec{NodeName: fmt.Sprint("n", n%nodes), Containers: []corev1.Container{{Name: "c", Image: "i"}}},
			}
			_, err = client.Create(w.Context(), pod, metav1.CreateOptions{})
		case rand.N(3) == 0:
			err = client.Delete(w.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)})
		default:
			patch := fmt.Appendf(nil, `{"metadata":{"labels":{"n":"%d"}}}`, rand.N(1000))
			_, err = client.Patch(w.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
		}
		if err != nil {
			w.Fatal(err)
		}
	}
}

// during makes changes while networks fail. Each fault must hit a request.
func (w *world) during(f fault, networks ...*network) {
	w.Helper()
	for _, n := range networks {
		n.fail(f)
	}
	w.play(20)
	for _, n := range networks {
		poll.Until(w.T, func() error {
			n.mu.Lock()
			defer n.mu.Unlock()
			if n.hits == 0 {
				return errors.New("the fault has hit no request")
			}
			return nil
		})
		n.heal()
	}
}

func (w *world) endWatches() {
	if _, err := w.api.EndWatches(w.Context()); err != nil {
		w.Fatal(err)
	}
}

func (w *world) expireWatches() {
	if err := w.api.ExpireWatches(w.Context()); err != nil {
		w.Fatal(err)
	}
}

// loseHistory restarts the relay after the API server has forgotten all missed changes.
func (w *world) loseHistory() {
	w.upstream.fail(refused)
	w.play(20)
	w.expireWatches()
	w.upstream.heal()
}

// settle waits until all informers have the API server's objects.
func (w *world) settle(when string) {
	w.Helper()
	want := map[string]contents{"": {}, "spec.nodeName=n0": {}}
	for selector, c := range want {
		list, err := w.client.CoreV1().Pods("").List(w.Context(), metav1.ListOptions{FieldSelector: selector})
		if err != nil {
			w.Fatal(err)
		}
		for i := range list.Items {
			c[keyOf(&list.Items[i])] = list.Items[i].ResourceVersion
		}
	}
	for name, have := range w.have {
		poll.Until(w.T, func() error {
			if got, want := have(), want[w.selected[name]]; !maps.Equal(got, want) {
				return fmt.Errorf("%s: %s has %v, want %v", when, name, got, want)
			}
			return nil
		})
	}
	for major, n := range map[int]*network{1: w.relay.http1, 2: w.relay.http2} {
		n.mu.Lock()
		if len(n.protos) != 1 || !n.protos[major] {
			w.Errorf("%s: the clients have used the HTTP versions %v, want only %d", when, n.protos, major)
		}
		n.mu.Unlock()
	}
}
