// SPDX-License-Identifier: Apache-2.0

package events_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/manager/events"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	inBubble = informertest.WithRig(newRig)
	same     = informertest.SameText
	pass     = informertest.Pass
)

const (
	normal  = corev1.EventTypeNormal
	warning = corev1.EventTypeWarning
)

// rig is a server in memory with Events, and a recorder.
type rig struct {
	t        *testing.T
	server   *sourcetest.Server
	events   *sourcetest.Collection[*eventsv1.Event]
	recorder *events.Recorder
	ended    chan error
	logs     strings.Builder

	mu     sync.Mutex // mu guards the fields below
	writes int        // requests
	fault  func(*sourcetest.Answer)
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, server: sourcetest.New()}
	r.events = sourcetest.Serve[*eventsv1.Event](r.server, eventsv1.SchemeGroupVersion.WithResource("events"), "Event")
	r.server.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: func(a *sourcetest.Answer) {
		r.mu.Lock()
		r.writes++
		fault := r.fault
		r.mu.Unlock()
		if fault != nil {
			fault(a)
		}
	}})
	client, err := source.NewClient(r.server.Config())
	if err != nil {
		t.Fatal(err)
	}
	if r.recorder, err = events.New(client, "maps"); err != nil {
		t.Fatal(err)
	}
	return r
}

// run runs the recorder until the end of the test.
func (r *rig) run() {
	ctx, cancel := context.WithCancel(klog.NewContext(r.t.Context(), informertest.LogTo(&r.logs, 0)))
	r.ended = make(chan error, 1)
	go func() { r.ended <- r.recorder.Run(ctx) }()
	r.t.Cleanup(cancel)
}

// answer sets the fault of all requests. Nil means none.
func (r *rig) answer(fault func(*sourcetest.Answer)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fault = fault
}

// configMap returns a ConfigMap as an informer has it.
func configMap(name string) *corev1.ConfigMap {
	m := informertest.ConfigMap(name)
	m.APIVersion, m.Kind, m.UID, m.ResourceVersion = "v1", "ConfigMap", "uid-of-1", "7"
	return m
}

// record records a normal Event about a ConfigMap.
func (r *rig) record(name, reason, note string) {
	r.recorder.Eventf(configMap(name), nil, normal, reason, "Reconcile", "%s", note)
}

// saw expects these Events in the server, in any order.
func (r *rig) saw(want ...string) {
	r.t.Helper()
	synctest.Wait()
	var got []string
	for _, e := range r.events.All() {
		text := fmt.Sprintf("%s %s/%s: %s %s", e.Type, e.Regarding.Namespace, e.Regarding.Name, e.Reason, e.Note)
		if e.Series != nil {
			text += fmt.Sprintf(" ×%d", e.Series.Count)
		}
		got = append(got, text)
	}
	slices.Sort(got)
	slices.Sort(want)
	same(r.t, "Events", strings.Join(got, "\n"), strings.Join(want, "\n"))
}

// logged expects parts of the log, and takes it.
func (r *rig) logged(parts ...string) {
	r.t.Helper()
	synctest.Wait()
	text := r.logs.String()
	r.logs.Reset()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			r.t.Errorf("the log lacks %q:\n%s", part, text)
		}
	}
	if parts == nil && text != "" {
		r.t.Errorf("the log has\n%s", text)
	}
}
