// SPDX-License-Identifier: Apache-2.0

// Package serve answers HTTP requests for lists, gets and watches from watch caches. To kubectl,
// client-go and this module's informers, a [Handler] looks like an API server.
//
//	client ┄▶ Authorize ─▶ request ─▶ serve ─▶ watchcache ─▶ serve ┄▶ client
//	                                    └─▶ Writer, or Upstream
//
// A request without a resourceVersion is answered at the cache's version, which is as old as the
// storage's last event. Differences from an API server:
//
//   - Objects are sent in the cache's encoding: JSON, or Kubernetes' protobuf. Requests for other
//     encodings are refused with 406, and so are requests for Tables. JSON is not indented,
//     whatever pretty says.
//   - A list at an exact version is refused with 410 if the cache doesn't hold that version any
//     more, or never did. An API server asks etcd, which may have it.
//   - Until the cache is filled, every request is refused with 429, with an API server's message
//     and Retry-After. An API server passes gets, and lists with a limit and no selectors, to etcd.
//   - [NewServer] refuses a GET or HEAD with a body.
//   - HEAD, and a watch over a WebSocket, are answered like GET.
//   - The parameter timeout is ignored. So is shardSelector, alpha and off in Kubernetes, unless
//     [Config].Shards is set.
//
// # Freshness
//
// Each answer from a cache, watches included, has two header fields. Watch-Cache-Version is the
// cache's resourceVersion. Age counts the whole seconds since the storage's last event, bookmarks
// included: the answer may lag the storage by that much. A Strict resource passes on requests whose
// answer must not be older than the request; one with Fresh waits for the cache.
//
// # Writes
//
// A resource with a [Writer] supports create, update and delete, like an API server's custom
// resources without a schema and without subresources: names, generateName, generation, finalizers,
// preconditions, dryRun and fieldValidation have their usual meaning. Patches and deletecollection
// are refused with 405. Further differences:
//
//   - Bodies are JSON.
//   - managedFields are stored as sent, and there is no garbage collection: propagationPolicy has
//     no effect.
//   - Existence is decided by the cache. A write is answered once the cache has it, so the next
//     request sees it. Another process's write of a moment ago may not be seen yet, but an older
//     version never overwrites it.
//
// A resource with an Upstream passes on all writes, and all requests for subresources.
//
// # Limits
//
// Exceeding a limit of [Config] is answered with 429 and Retry-After. [NewServer] and [Limit] limit
// connections, and with them the gets and lists waiting for a version.
//
// # Blocking
//
// A request waits for its version, as described in package watchcache, and for its client, for as
// long as [Config].WriteTimeout and StateTimeout permit.
//
// # Goroutines
//
//	goroutine                      started by    ends when
//	of a watch over HTTP/1.1       ServeHTTP     the watch has ended, or its connection
//	one that writes to it          a worker      the client has read what it didn't take at once
//	one that authorizes a watch    a timer       Authorize has returned
//	of a request, or of a stream   net/http      the request has been answered
//
// A watch over HTTP/1.1 takes its connection over from net/http, which would use 25 KB. One
// goroutine remains, waiting for the client to go; the cache's workers write the events. So
// ServeHTTP returns while the watch is open, the request's context ends then, and Close and
// Shutdown of an http.Server don't know the watch. [Handler.Shutdown] ends it and waits for its
// goroutines; the end of the cache's Run ends it too, without waiting. A handler in front of this
// one that wraps the http.ResponseWriter must give it an Unwrap method, or the connection is not
// taken over.
//
// A watch over HTTP/2 keeps net/http's goroutine for its stream, and waits for events in it: the
// connection has other streams, and only net/http knows a stream's state, such as its window. A
// client that stops reading one stream doesn't hold up the others as long as its window for the
// connection is larger than its streams' windows.
package serve
