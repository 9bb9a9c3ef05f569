// SPDX-License-Identifier: Apache-2.0

// Package inspect shows the state of a factory's informers, and of controllers: as a page for
// people, as JSON for tools, and as an answer to readiness probes.
//
//	mux.Handle("/debug/informers", inspect.Handler(factory))
//	mux.Handle("/readyz", inspect.Ready(factory))
//
// # The page
//
// [Handler] serves one page without scripts or external resources. It begins with the problems, and
// advice on them. Then it shows each informer's state, the failing ones first, with the reason, its
// number of objects, its resourceVersion, the age of its last event and bookmark, and its relists
// by cause; and each handler's backlog, lag, and running callback with key and duration.
//
// [WithControllers] adds controllers: the waiting and running keys of each, its reconciles and
// failures in all and in the last minute, its failing keys with error and next attempt, its last
// error, and the error of a failed run. [WithLeadership] adds which process leads.
//
// [WithRing] adds the ring by which processes share the work. Buckets without an owner are the
// first of its problems, with the time and their last owner. Then come the members, with the last
// renewal seen; how informers read their part; each bucket's owner, epoch and keys; and the moves.
//
// Parameters of the request:
//
//	?key=shop/blue    also explains where this key is: the informers that have it, with their
//	                  resourceVersion, or why they don't; handlers with undelivered events of it;
//	                  its state in the queues, and the error of its last reconcile
//	?format=json      JSON; also sent if the request's Accept header does not name text/html
//	?refresh=5        the page reloads every 5 seconds
//
// The JSON has the fields of [informer.Status] and [controller.Status], and the condition, reason
// and advice of each.
//
// # Contents
//
// The page shows names of informers, handlers, namespaces, objects and controllers, and error texts
// about requests, but no objects. Errors about objects may quote them, so the page replaces them
// with the object's key, if an object could not be decoded or transformed. The log has the texts.
// Errors of reconciles and of a controller's run are the program's own, and shown as they are.
//
// # Access
//
// Unless [WithAuthorizer] is given, Handler answers only requests from this machine: the remote
// address and the Host header are the loopback's, and no header names a proxy. "kubectl
// port-forward" sends such requests. All others get 403. A proxy beside the process that adds no
// header, as a service mesh's may, makes remote requests look local: then use an authorizer.
//
// [Ready] answers everyone, since probes come from elsewhere. It names informers with short
// reasons, but without error texts.
//
// # Blocking
//
// A request briefly takes the locks of each informer, handler and controller, one after the other.
// It waits for nothing else. The values of one informer are from nearly the same moment. ?key
// searches all undelivered events without a lock.
//
// # Goroutines
//
// This package has none.
package inspect
