// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

type condition string

const (
	healthy    condition = "healthy"     // the store follows the server; a controller reconciles
	idle       condition = "idle"        // of a handler: no event waits
	busy       condition = "busy"        // of a handler: it is handling events
	waiting    condition = "waiting"     // of a handler: idle, and its informer is not healthy
	stopped    condition = "not running" // it has no lease; a controller's Run was not called
	absent     condition = "absent"      // the server doesn't have the resource, which is optional
	starting   condition = "starting"    // the first full state is being read
	behind     condition = "behind"      // of a handler: its events are merged
	keysFail   condition = "keys fail"   // of a controller: too often, or without a retry
	recovering condition = "recovering"  // a failure that may be temporary; the store may be old
	stuck      condition = "stuck"       // of a handler: its callback does not return
	failing    condition = "failing"     // a lasting failure
)

// byRank has the conditions, the worst last.
var byRank = []condition{healthy, idle, busy, waiting, stopped, absent, starting, behind, keysFail, recovering, stuck, failing}

func (c condition) rank() int { return slices.Index(byRank, c) }

func worse(a, b condition) condition {
	if b.rank() > a.rank() {
		return b
	}
	return a
}

const (
	stuckAfter   = 30 * time.Second // when an informer logs a callback
	manyFailures = 5                // in a row
)

func conditionOf(running, synced bool, s reflector.Status) condition {
	lasting := s.Reason.Lasting() || s.Attempts > manyFailures
	switch {
	case !running && !synced && s.LastError != nil:
		return failing // it could not be made, or ended before it synced
	case !running:
		return stopped
	case s.Reason == reason.None && s.State == reflector.StateAbsent:
		return absent
	case s.Reason == reason.None && synced:
		return healthy
	case s.Reason == reason.None:
		return starting
	case s.Reason == reason.WatchForbidden && synced:
		return recovering // lists replace watches
	case lasting || !synced && s.Attempts > 1:
		return failing
	}
	return recovering
}

func describe(s informer.Status, resource schema.GroupVersionResource, now time.Time) informerReport {
	r := informerReport{Status: s, Condition: conditionOf(s.Running, s.Synced, s.Reflector)}
	switch r.Condition {
	case failing, recovering:
		r.Why, r.Advice = whyOf(s, now), adviceOf(s.Reflector.Reason, resource)
		if namespacesFail(s) && s.Reflector.Reason == reason.Forbidden {
			r.Advice = "Give the account the verbs list and watch for namespaces, in the whole cluster."
		}
	}
	for _, h := range s.Handlers {
		r.Handlers = append(r.Handlers, handlerReport{conditionOfHandler(h, r.Condition, now), h})
	}
	return r
}

func whyOf(s informer.Status, now time.Time) string {
	text := "It has not synced: "
	if s.Synced {
		text = "It has synced, but its state may be old: "
	}
	if namespacesFail(s) {
		return text + s.Namespaces.Name + ": " + stateInWords(s.Running, s.Reflector, now) + "."
	}
	for _, stream := range s.Streams {
		if len(s.Streams) > 1 && stream.Reflector.Reason != reason.None {
			text += "namespace " + stream.Namespace + " "
			return text + stateInWords(s.Running, stream.Reflector, now) + "."
		}
	}
	return text + stateInWords(s.Running, s.Reflector, now) + "."
}

// namespacesFail reports whether the informer's worst problem is its list of namespaces.
func namespacesFail(s informer.Status) bool {
	n := s.Namespaces
	return n != nil && n.Reflector.Reason != reason.None &&
		!(n.Synced && slices.ContainsFunc(s.Streams, func(stream informer.StreamStatus) bool { return !stream.Synced }))
}

func stateInWords(running bool, s reflector.Status, now time.Time) string {
	if !running {
		if s.LastError != nil {
			return fmt.Sprintf("not running (%v)", s.LastError)
		}
		return "not running"
	}
	text := s.State.String()
	if !s.RetryAt.IsZero() {
		text = "tries again in " + inWords(max(0, s.RetryAt.Sub(now)))
	}
	if s.Reason == reason.None {
		return fmt.Sprintf("%s, for %s", text, inWords(now.Sub(s.Since)))
	}
	return fmt.Sprintf("%v (%v); %s in a row, %s", s.Reason, s.LastError, count(s.Attempts, "failure"), text)
}

// adviceFor is advice by failure. The other failures end by themselves.
var adviceFor = map[reason.Reason]string{
	reason.Unauthorized:   "Look at the credentials: the service account's token, or the kubeconfig.",
	reason.Forbidden:      "Give the account the verbs list and watch for this resource.",
	reason.WatchForbidden: "Give the account the verb watch. Until then, changes are seen with the next list only.",
	reason.NotFound:       "Install the CustomResourceDefinition of the resource, or remove the kind from the program.",
	reason.Throttled:      "Look at the load of the API server, and at its priority and fairness.",
	reason.ServerError:    "Look at the log of the API server.",
	reason.Unreachable:    "Look at the network between this process and the API server.",
	reason.Silent:         "Look at the network, and at proxies that keep dead connections open.",
	reason.Refused:        "Look at the server's version, and at the informer's selectors.",
	reason.BadData:        "An object does not fit the Go type. The log names the object and the field.",
	reason.Transform:      "The informer's transform returns an error for an object. The log has it.",
	reason.Unreadable:     "The server can't read an object from its storage. Look at its log.",
}

func adviceOf(why reason.Reason, resource schema.GroupVersionResource) string {
	if why == reason.NotFound && isBuiltIn(resource) {
		return "The API server does not serve this version of a built-in resource. Look at the server's version, at its flag --runtime-config, and at kubectl api-resources."
	}
	return adviceFor[why]
}

// builtInGroups are the API server's own groups whose names have a dot.
var builtInGroups = []string{
	"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "authentication.k8s.io",
	"authorization.k8s.io", "certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io",
	"flowcontrol.apiserver.k8s.io", "internal.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io",
	"rbac.authorization.k8s.io", "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io", "storagemigration.k8s.io",
}

// isBuiltIn reports whether the API server itself has the group of a resource. The group of a
// CustomResourceDefinition has a dot.
func isBuiltIn(resource schema.GroupVersionResource) bool {
	return !resource.Empty() && (!strings.Contains(resource.Group, ".") || slices.Contains(builtInGroups, resource.Group))
}

var adviceOfHandler = map[condition]string{
	stuck:  "Look at what the callback waits for: /debug/pprof/goroutine?debug=2 has its stack.",
	behind: "Let the callback only add the key to a work queue.",
}

func conditionOfHandler(h informer.HandlerStatus, of condition, now time.Time) condition {
	switch {
	case h.Callback != "" && now.Sub(h.Since) >= stuckAfter:
		return stuck
	case h.Merging:
		return behind
	case !h.Synced && h.Backlog > 0:
		return starting
	case h.Callback != "" || h.Backlog > 0:
		return busy
	case of != healthy:
		return waiting
	}
	return idle
}

func whyOfHandler(h informer.HandlerStatus, now time.Time) string {
	text := fmt.Sprintf("Handler %s ", cmp.Or(h.Name, "without a name"))
	if h.Callback != "" {
		text += fmt.Sprintf("has been in %s of %s for %s", h.Callback, h.Key, inWords(now.Sub(h.Since)))
	} else {
		text += "is behind"
	}
	if h.Backlog > 0 {
		text += fmt.Sprintf("; %s for it, the oldest for %s", waitingEventsInWords(h.Backlog), inWords(now.Sub(h.WaitingSince)))
	}
	return text + "."
}
