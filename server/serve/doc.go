// SPDX-License-Identifier: Apache-2.0

// Package serve answers HTTP requests for lists, gets and watches from watch caches, as an API
// server does: kubectl, client-go and the informers of this module take a [Handler] for one.
//
//	client ┄▶ Authorize ─▶ request ─▶ serve ─▶ watchcache ─▶ serve ┄▶ client
//	                                    └─▶ Writer, or Upstream
//
// What is asked for without a resourceVersion is answered at the cache's version, which is as old
// as the storage's last event. All else is as an API server answers it, with these exceptions:
//
//   - Objects are sent in the encoding in which the cache has them: JSON, or Kubernetes' protobuf.
//     Others are refused with 406, and so are Tables, after which kubectl takes JSON, and client-go
//     whichever there is. JSON is not indented, whatever pretty is.
//   - A list at an exact version that the cache no longer has, or never had, is refused with 410.
//     An API server asks etcd, which may have it.
//   - Until the cache is filled, every request is refused with 429, in an API server's words and
//     with its Retry-After. An API server asks etcd for gets, and for lists with a limit and no
//     selectors; and it adds why its cache isn't filled, which is left to the log here.
//   - [NewServer] refuses a GET or HEAD with a body with 400, and bounds the time of other bodies.
//   - The answer to HEAD, and to a watch over a WebSocket, is that to GET.
//   - The parameter timeout is not read, and shardSelector is only with [Config].Shards: it is
//     alpha in Kubernetes, and off.
//
// # Freshness
//
// Each answer from a cache, a watch's included, has two fields in its header. Watch-Cache-Version
// is the resourceVersion at which the cache was. Age is how many whole seconds ago the storage's
// last event came, bookmarks included: how much older than the storage the answer may be. API
// servers send a bookmark a minute. A resource that is Strict passes on what must not be older than
// the request, and one with Fresh waits for the cache.
//
// # Writes
//
// A resource with a [Writer] has create, update and delete, as an API server has them for custom
// resources without a schema and without subresources: names, generateName, generation, finalizers,
// preconditions, dryRun and fieldValidation mean what they mean there. Patches, and deletes of a
// collection, are refused with 405. These are the other exceptions:
//
//   - Bodies are JSON.
//   - There are no managedFields but those that clients send, and there is no garbage collection:
//     propagationPolicy changes nothing.
//   - What exists is what the cache has. A write is answered when the cache has it, so that the
//     next request sees it, but what another process has stored a moment ago may not be seen yet.
//     It is never overwritten by an older version.
//
// A resource with an Upstream passes on all requests that write, and those for subresources.
//
// # Limits
//
// Each limit of [Config] that is reached is answered with 429 and Retry-After. [NewServer] and
// [Limit] set the limits of connections, which also bound the gets and lists that wait for a
// version.
//
// Watches share the bytes of events. A watch whose client doesn't read keeps the events that it was
// being sent. When all watches keep more than [Config].SlowBytes, the one that keeps the most ends.
//
// # Blocking
//
// A request waits for its version, as package watchcache has it, and for its client. Data that the
// client doesn't read within [Config].WriteTimeout ends the connection, and so does a state that it
// doesn't read within [Config].StateTimeout and a second for each MiB.
//
// # Goroutines
//
//	goroutine                      started by    ends when
//	of a watch over HTTP/1.1       ServeHTTP     the watch has ended, or its connection
//	one that writes to it          a worker      the client has read what it didn't take at once
//	one that authorizes a watch    a timer       Authorize has returned
//	of a request, or of a stream   net/http      the request has been answered
//
// A watch over HTTP/1.1 takes its connection over from net/http, which would need 25 KB for it.
// What is left is a goroutine that waits for the client to go; the workers of the cache write the
// events. So ServeHTTP returns while the watch is open, the context of its request ends then, and
// Close and Shutdown of an http.Server don't know the watch: [Handler.Shutdown] ends it and waits
// for its goroutines, and so does the end of the cache's Run, without waiting. A handler in front
// of this one that wraps the http.ResponseWriter gives it an Unwrap method, or else it is not taken
// over.
//
// A watch over HTTP/2 keeps the goroutine that net/http has for its stream, and waits for events in
// it: the connection has other streams, and what belongs to a stream, such as its window, is known
// to net/http alone. A client that does not read one of its streams holds up no other one, as long
// as its window for the connection is larger than those of its streams.
package serve
