// SPDX-License-Identifier: Apache-2.0

// Package inspect shows what the informers of a factory are doing: as a page for people, as JSON
// for tools, and as an answer to readiness probes. It needs no manager.
//
//	mux.Handle("/debug/informers", inspect.Handler(factory))
//	mux.Handle("/readyz", inspect.Ready(factory))
//
// # The page
//
// [Handler] serves one page without scripts and without anything from elsewhere. It begins with
// what is wrong, and what to do about it. Then it has, of each informer, what it is doing and why,
// the number of its objects, its resourceVersion, the age of its last event and bookmark, and its
// relists by cause; of each handler its backlog, its lag, and the callback that is running, with
// key and duration; and of each controller given by [WithControllers] what waits and what is
// running.
//
// Parameters of the request:
//
//	?key=shop/blue    also explains where this key is: which informers have it, at which
//	                  resourceVersion, and if not, why; which handlers have events of it to
//	                  come; where the queues have it
//	?format=json      JSON; also sent if the request's Accept header does not name text/html
//	?refresh=5        the page loads itself again every 5 seconds
//
// The JSON has the fields of [informer.Status], and for each informer its condition, why, and
// advice.
//
// # What it shows
//
// It shows names: of informers, handlers, namespaces, objects and queues, and the texts of errors
// about requests. It shows no contents of objects. So the texts of errors about objects, which may
// quote them, are left out: of an object that could not be decoded or transformed the key is shown.
// The log has the rest.
//
// # Who may see it
//
// Unless [WithAuthorizer] is given, Handler answers only requests that come from this machine: the
// remote address and the Host header are those of the loopback, and no header names a proxy.
// "kubectl port-forward" sends such requests. All others get 403. If a proxy beside the process
// adds no header, as a service mesh's may, remote requests look local: give an authorizer there.
//
// [Ready] answers everyone, since probes come from elsewhere. It names informers, and the reason of
// each in a few words, without the texts of errors.
//
// # Blocking
//
// A request takes the locks of each informer and of each of its handlers for a moment, one after
// the other, and waits for none of them to do something. The values of one informer are of nearly
// one moment. ?key looks through all that waits for handlers, without a lock.
//
// # Goroutines
//
// This package has none. Requests are answered on the goroutines of the server.
package inspect
