// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
)

type sharedInformer = informer.SharedIndexInformer[*corev1.ConfigMap]

type member struct {
	name      string
	namespace string
	selector  string
	transport *http.Transport
	informer  *sharedInformer
	handlers  []*checker
	stop      func() error // set by run
}

// slowCallback is the duration of a slow handler's callbacks.
const slowCallback = 20 * time.Millisecond

// shortBackoff is the informers' backoff. The default waits for up to 30 s, so the soak would test
// long pauses.
var shortBackoff = reflector.Backoff{Initial: 100 * time.Millisecond, Max: 2 * time.Second, ResetAfter: 3 * time.Second}

// newMember makes the n-th informer, as described in the package's documentation.
func newMember(n int, url string, calls *atomic.Int64, problems *problemList) (*member, error) {
	m := &member{name: fmt.Sprintf("informer %d", n), transport: &http.Transport{}}
	tuning := reflector.Tuning{Backoff: shortBackoff}
	switch n % 3 {
	case 1:
		m.namespace, m.selector = namespaces[n%len(namespaces)], tierLabel+"="+gold
	case 2:
		m.namespace = namespaces[n%len(namespaces)]
		tuning.DisableWatchList, tuning.PageSize = true, 20
	}
	client, err := source.NewClient(&rest.Config{Host: url, Transport: m.transport})
	if err != nil {
		return nil, err
	}
	src, err := source.New[*corev1.ConfigMap](client, corev1.SchemeGroupVersion.WithResource("configmaps"),
		source.Options{Namespace: m.namespace, LabelSelector: m.selector})
	if err != nil {
		return nil, err
	}
	if m.informer, err = informer.New(src, informer.WithName(m.name), informer.WithTuning(tuning)); err != nil {
		return nil, err
	}
	for i, pause := range []time.Duration{0, slowCallback} {
		h := m.checker(fmt.Sprintf("handler %d", i+1), calls, problems)
		h.pause = pause
		m.handlers = append(m.handlers, h)
		if _, err := m.informer.AddEventHandler(h); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *member) checker(name string, calls *atomic.Int64, problems *problemList) *checker {
	return &checker{name: name + " of " + m.name, calls: calls, problems: problems, live: map[object.Key]*corev1.ConfigMap{}}
}

var errStop = errors.New("the soak stops the informer")

func (m *member) run() {
	ctx, cancel := context.WithCancelCause(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- m.informer.Run(ctx) }()
	m.stop = sync.OnceValue(func() error {
		cancel(errStop)
		select {
		case err := <-ended:
			if err != errStop {
				return fmt.Errorf("%s: Run returned %v", m.name, err)
			}
			return nil
		case <-time.After(patience):
			return fmt.Errorf("%s has not ended within %v: %v", m.name, patience, m.informer.Status())
		}
	})
}

// visit adds handlers and removes them when they have synced, at one informer after the other,
// until ctx is done.
func visit(ctx context.Context, members []*member, problems *problemList) {
	var uncounted atomic.Int64
	for n := 0; ctx.Err() == nil; n++ {
		m := members[n%len(members)]
		reg, err := m.informer.AddEventHandler(m.checker("visitor", &uncounted, problems))
		if err != nil {
			problems.add("add a visitor: %v", err)
			return
		}
		select {
		case <-reg.Synced():
			select {
			case <-time.After(50 * time.Millisecond):
			case <-ctx.Done():
			}
		case <-ctx.Done():
		}
		reg.Remove()
	}
}

type versions map[object.Key]string

func versionsOf(objects iter.Seq[*corev1.ConfigMap]) versions {
	v := versions{}
	for obj := range objects {
		v[object.KeyOf(obj)] = fmt.Sprintf("%s@%s", obj.UID, obj.ResourceVersion)
	}
	return v
}

// missing describes an informer's differences from the server; "" if there are none.
func (m *member) missing(ctx context.Context, client kubernetes.Interface) string {
	list, err := client.CoreV1().ConfigMaps(m.namespace).List(ctx, metav1.ListOptions{LabelSelector: m.selector})
	if err != nil {
		return fmt.Sprintf("list what %s should have: %v", m.name, err)
	}
	want := versionsOf(func(yield func(*corev1.ConfigMap) bool) {
		for i := range list.Items {
			if !yield(&list.Items[i]) {
				return
			}
		}
	})
	if got := versionsOf(m.informer.Store().Snapshot().All()); !maps.Equal(got, want) {
		return fmt.Sprintf("%s's store has %d objects, the server %d, or other versions: %v", m.name, len(got), len(want), m.informer.Status())
	}
	for _, h := range m.handlers {
		if got := h.knows(); !maps.Equal(got, want) {
			return fmt.Sprintf("%s has got %d objects, the server has %d, or other versions", h.name, len(got), len(want))
		}
	}
	return ""
}
