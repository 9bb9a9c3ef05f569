// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"reflect"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/manager"
	"github.com/informer-gen/informer-gen/runtime/manager/shard"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/writer"
)

const (
	requestName = "request"
	answerName  = "answer"
	stateBegun  = "begun"
	stateDone   = "done"

	concurrency = 4 // of reconciles
)

var configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")

// newManager returns the Run of a manager whose controller works on this process's part of the
// namespaces.
func newManager(config *rest.Config, ring *shard.Ring, by *answerer) (run func(context.Context) error, err error) {
	client, err := source.NewClient(config)
	if err != nil {
		return nil, err
	}
	factory := factories.New(client, informer.WithRing(ring))
	r := &reconciler{answerer: by, maps: factories.For[*corev1.ConfigMap](factory, configMaps)}
	newRequests := func(_ context.Context, c *manager.Context) (_ manager.Runnable, err error) {
		// The client of the Context is fenced: it sends nothing for a namespace of another member.
		if r.writer, err = writer.New[*corev1.ConfigMap](c.Client, configMaps, writer.Options{OnWrite: controller.Wrote}); err != nil {
			return nil, err
		}
		isRequest := func(old, m *corev1.ConfigMap) bool { return m != nil && m.Name == requestName }
		return controller.New(c.Name, r.reconcile, controller.Options{Ring: ring, Concurrency: concurrency},
			controller.For(r.maps, isRequest).OfKind(schema.GroupKind{Kind: "ConfigMap"}, true),
			controller.Owns(r.maps),
		)
	}
	m, err := manager.New(manager.Options{
		Config: config, Factory: factory, Ring: ring,
		Controllers: []manager.Descriptor{{Name: "requests", Sharded: true, New: newRequests}},
	})
	if err != nil {
		return nil, err
	}
	return m.Run, nil
}

// reconciler answers requests.
type reconciler struct {
	*answerer
	maps   *informer.SharedIndexInformer[*corev1.ConfigMap]
	writer *writer.Writer[*corev1.ConfigMap]
}

func (r *reconciler) reconcile(ctx context.Context, key object.Key) (controller.Result, error) {
	all := r.maps.Store().Snapshot()
	request, ok := all.Get(key)
	if !ok {
		return controller.Result{}, nil
	}
	last, _ := all.Get(object.Key{Namespace: key.Namespace, Name: answerName})
	return controller.Result{}, r.answer(request, last, func(next *corev1.ConfigMap) (*corev1.ConfigMap, error) {
		write := r.writer.Create
		if next.ResourceVersion != "" {
			write = r.writer.Update
		}
		written, _, err := write(ctx, next)
		return written, err
	})
}

// answerer answers requests for the reconcilers of either manager.
type answerer struct {
	member string
	work   time.Duration
	failed func(error)
}

// answer answers a request by two writes, with some work between them. last is the answer to the
// last request, or nil. write creates an answer, or updates it if it has a resourceVersion.
func (a *answerer) answer(request, last *corev1.ConfigMap, write func(*corev1.ConfigMap) (*corev1.ConfigMap, error)) error {
	if last != nil && last.Data["round"] == request.Data["round"] && last.Data["state"] == stateDone {
		return nil
	}
	next, err := write(a.next(request, last, stateBegun))
	if err == nil {
		time.Sleep(a.work)
		_, err = write(a.next(request, next, stateDone))
	}
	if err != nil {
		a.failed(err)
	}
	return err
}

func (a *answerer) next(request, last *corev1.ConfigMap, state string) *corev1.ConfigMap {
	next := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: request.Namespace, Name: answerName,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(request, corev1.SchemeGroupVersion.WithKind("ConfigMap"))},
		},
		Data: map[string]string{"round": request.Data["round"], "state": state, "member": a.member},
	}
	if last != nil {
		next.ResourceVersion = last.ResourceVersion // a conflict, if somebody else has written
	}
	return next
}

// report is a replica's state, for the first process, as a line of JSON.
type report struct {
	State      string
	Buckets    int
	Namespaces []string // with requests that it may work on
	Refused    string   // the first error of a request that was refused, or cut off
	Ended      string   // the error of its run

	Interrupted, Lost bool // by errors.Is of that error
}

// runMember runs as a replica until ctx is done or the standard input ends.
func runMember(ctx context.Context, s *settings, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	config := &rest.Config{Host: s.server, UserAgent: s.member, QPS: -1}
	s.ring.Identity = s.member
	ring, err := shard.New(config, s.ring)
	if err != nil {
		return err
	}
	reporter := &reporter{ring: ring, namespaces: s.namespaces, out: json.NewEncoder(out)}
	newRun := newManager
	if s.controllerRuntime {
		newRun = newRuntimeManager
	}
	run, err := newRun(config, ring, &answerer{member: s.member, work: s.work, failed: reporter.failed})
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			reporter.report(nil)
		case err := <-ended:
			reporter.report(err)
			return err
		}
	}
}

// reporter prints a report whenever there is something new.
type reporter struct {
	ring       *shard.Ring
	namespaces int
	out        *json.Encoder

	mu      sync.Mutex
	refused string
	last    report // used by one goroutine
}

func (r *reporter) failed(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused == "" && (errors.Is(err, shard.ErrNotOwned) || errors.Is(err, context.Canceled)) {
		r.refused = err.Error()
	}
}

func (r *reporter) report(ended error) {
	status := r.ring.Status()
	next := report{State: status.State}
	if ended != nil {
		next.Ended = ended.Error()
		next.Interrupted, next.Lost = errors.Is(ended, context.Canceled), errors.Is(ended, shard.ErrLost)
	}
	for _, b := range status.Buckets {
		if b.State == "held" {
			next.Buckets++
		}
	}
	for n := range r.namespaces {
		if name := namespaceName(n); r.ring.Owns(object.Key{Namespace: name, Name: requestName}) {
			next.Namespaces = append(next.Namespaces, name)
		}
	}
	r.mu.Lock()
	next.Refused = r.refused
	r.mu.Unlock()
	if !reflect.DeepEqual(next, r.last) {
		r.last = next
		_ = r.out.Encode(next) // nobody reads it if this fails
	}
}
