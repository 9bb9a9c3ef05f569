// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
)

type keyReport struct {
	Key         string          `json:"key"`
	Informers   []keyInformer   `json:"informers"` // first those with the key, or with events of it
	Controllers []keyController `json:"controllers,omitempty"`
}

type keyInformer struct {
	Informer        string `json:"informer"`
	Stored          bool   `json:"stored"`
	ResourceVersion string `json:"resourceVersion,omitempty"` // of the object
	Why             string `json:"why"`
	// Handlers have undelivered events of the key, or handle one.
	Handlers []informer.HandlerStatus `json:"handlers,omitempty"`
}

// keyController says where a key is in a controller's queue, and how its last reconcile failed.
type keyController struct {
	Controller string    `json:"controller"`
	Where      string    `json:"where"`
	Failures   int       `json:"failures,omitempty"`
	Error      string    `json:"error,omitempty"`
	ErrorTime  time.Time `json:"errorTime,omitzero"`
}

func explain(key object.Key, all []factories.Informer, controllers []controllerReport, now time.Time) *keyReport {
	r := &keyReport{Key: key.String(), Informers: []keyInformer{}}
	for _, i := range all {
		r.Informers = append(r.Informers, explainIn(key, i, now))
	}
	slices.SortStableFunc(r.Informers, func(a, b keyInformer) int { return b.rank() - a.rank() })
	for _, c := range controllers {
		if k, known := c.controller.StatusOf(key); known || k.Error != "" {
			r.Controllers = append(r.Controllers, keyController{c.Name, keyInWords(k.KeyStatus, now), k.Failures, k.Error, k.ErrorTime})
		}
	}
	return r
}

func (k keyInformer) knows() bool { return k.rank() > 0 }

func (k keyInformer) rank() int {
	switch {
	case k.Stored:
		return 2
	case len(k.Handlers) > 0:
		return 1
	}
	return 0
}

func explainIn(key object.Key, i factories.Informer, now time.Time) keyInformer {
	status := withoutContents(i.Status())
	in := keyInformer{Informer: status.Name}
	typed, ok := i.(*informer.SharedIndexInformer[object.Object])
	if !ok { // never returned by this module's factories
		in.Why = "The informer's type can't be inspected."
		return in
	}
	for _, h := range typed.KeyStatus(key) {
		if h.Backlog > 0 || h.Callback != "" {
			in.Handlers = append(in.Handlers, h)
		}
	}
	at := slices.IndexFunc(status.Streams, func(s informer.StreamStatus) bool { return s.Namespace == "" || s.Namespace == key.Namespace })
	switch n := status.Namespaces; {
	case at >= 0:
	case n == nil:
		in.Why = "Not read: " + onlyReads(status.Streams)
		return in
	case n.Synced:
		in.Why = fmt.Sprintf("Not read: the informer reads only %s; the list of these is at resourceVersion %s.", n.Name, n.Reflector.ResourceVersion)
		return in
	default:
		in.Why = fmt.Sprintf("Unknown: the informer waits for %s. %s", n.Name, sentence(stateInWords(status.Running, n.Reflector, now)))
		return in
	}
	stream := status.Streams[at]
	if !stream.Synced {
		in.Why = "Unknown: the informer has not synced. " + sentence(stateInWords(status.Running, stream.Reflector, now))
		return in
	}
	snapshot := typed.Store().Snapshot()
	obj, ok := snapshot.Get(key)
	if !ok {
		in.Why = fmt.Sprintf("Not stored: at resourceVersion %s the server had no such object, or a selector of the informer excludes it.%s",
			snapshot.NamespaceResourceVersion(stream.Namespace), whyStale(status.Running, stream, now))
		return in
	}
	in.Stored, in.ResourceVersion = true, obj.GetResourceVersion()
	in.Why = "Stored." + whyStale(status.Running, stream, now)
	return in
}

func onlyReads(streams []informer.StreamStatus) string {
	var names []string
	for _, s := range streams {
		names = append(names, s.Namespace)
	}
	return fmt.Sprintf("the informer reads only namespace %s.", strings.Join(names, ", "))
}

// whyStale says why the store may be behind the server, or returns "".
func whyStale(running bool, s informer.StreamStatus, now time.Time) string {
	if c := conditionOf(running, s.Synced, s.Reflector); c == healthy {
		return ""
	}
	return " The server may have a newer state: " + stateInWords(running, s.Reflector, now) + "."
}
