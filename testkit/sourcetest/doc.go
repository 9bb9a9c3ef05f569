// SPDX-License-Identifier: Apache-2.0

// Package sourcetest is an API server in memory, for tests of informers and controllers. It speaks
// the real wire format of a Kubernetes API server, and injects faults.
//
//	server := sourcetest.New()
//	gvr := corev1.SchemeGroupVersion.WithResource("pods")
//	pods := sourcetest.Serve[*corev1.Pod](server, gvr, "Pod")
//	client, err := source.NewClient(server.Config())
//	factory := factories.New(client)
//	factories.For[*corev1.Pod](factory, gvr)
//	err = factory.Start(ctx)
//
// The test writes objects with the methods of a [Collection], the code under test with requests:
// client-go's typed and dynamic clients work, and so do others that need no discovery. Until
// [Serve] is called for a resource, it is answered with 404, like a CustomResourceDefinition that
// isn't installed.
//
// # Connection
//
// A [Server] is an http.RoundTripper, which [Server.Config] puts into a rest.Config, and an
// http.Handler, for httptest.NewServer. Use [Server.Config] unless the test is about connections:
// it works in a bubble of testing/synctest. A Server belongs to the bubble it was made in.
//
// # Behaviour of an API server
//
// Requests are read and refused as by package serve, with the same rules of writes for all kinds.
// Lists and watches come from package watchcache; the rest is this package's own.
//
//   - Formats: JSON, and Kubernetes' protobuf for Go types that have it, also as
//     PartialObjectMetadata, by Accept; 406 if no format fits. Go types with protobuf are sent
//     like built-in kinds, without a kind in the items of lists; other types' lists have kind and
//     metadata behind the items.
//   - Lists: resourceVersion, resourceVersionMatch, limit, continue. They are sorted by namespace,
//     slash and name as one text. All pages show the first page's version; with selectors, the last
//     page may be empty. A list at version "0" is whole. A future version is awaited for 3 s, then
//     gets 504 (too large); an exact version before the last compaction gets 410, a page also a
//     token for continuing in the newest state.
//   - Watches: from a version, from "" or "0" with the present objects first (unless
//     sendInitialEvents is false), or as a watch-list (KEP-3157). If bookmarks are allowed, one
//     ends the initial events, and more come at each [Server.BookmarkInterval] and 2 s before the
//     end, if there was a change. A version before the last compaction gets an ERROR event of
//     code 410; a future version is awaited silently. A watch ends after timeoutSeconds, or else
//     30 minutes.
//   - Selection by namespace, labels and fields. An object that enters or leaves a watch's
//     selection is ADDED or DELETED.
//   - Writes: uid, creationTimestamp, generateName, and resourceVersions from one counter for all
//     resources. Metadata is validated. Updating an older version is a Conflict (409); an update
//     without a change writes nothing, like dryRun.
//   - Status: if objects have a status, create and update ignore it, and the status subresource
//     writes nothing else, unless [Collection.WithoutStatus] was called.
//   - Generation: 1 at first, raised by changes outside of metadata and status, and by the
//     delete.
//   - Patches: JSON patches (RFC 6902) and merge patches (RFC 7386). With [Server.Patches], also
//     strategic merge patches and server-side apply with field owners and conflicts. Apply
//     replaces lists as a whole unless a TypeConverter knows the kind. Owners are recorded from
//     the first apply on.
//   - Deletes, of one object or a selection: preconditions, and finalizers, which keep the object
//     with a deletionTimestamp until the last one is removed.
//
// Kinds whose Go type has protobuf follow the rules of built-in kinds: an update without a
// resourceVersion is unconditional, strategic merge patches are understood, and the generation is
// counted if there is a spec. Other kinds follow those of custom resources: an update needs a
// resourceVersion (422), strategic merge patches get 415, and the generation is always counted.
//
// The server doesn't default objects, or validate them beyond metadata. It has no admission, no
// discovery, no subresources other than status, and no field owners before the first apply. It
// collects no dependents: propagationPolicy and gracePeriodSeconds are accepted and ignored.
// Unknown requests get 404 or 405.
//
// # Ordering and blocking
//
// Writes to all collections have one order, by resourceVersion. A write is done when its method
// returns, or its answer begins: later requests see it, and each open watch sends it, in that
// order, when its body is read. To wait until an informer has it, use AwaitResourceVersion. No
// method of Server or Collection waits for a client, however slow: a watch is a cursor in the
// history, and no event is dropped. Compact keeps everything an open watch still has to send.
//
// The functions of a Fault are called on the goroutine that makes the request or reads the body,
// without a lock held, except Match.
//
// # Goroutines
//
// A Server starts none. Without a socket, everything happens on the client's goroutines; a Read
// waiting for an event ends with the request's context, with Close, or when the watch's time is
// over. Over a socket, net/http's goroutines end with the connection.
//
// # Faults
//
// A [Fault] selects requests and changes their [Answer]: to an error, a late answer or none, other
// objects, or one that breaks off.
//
//	refuse := sourcetest.Refuse(http.StatusForbidden)
//	server.Inject(sourcetest.Fault{On: sourcetest.List, Times: 3, Do: refuse})
//
// A fault that answers a write with an error prevents the write; delaying or cutting the answer
// doesn't:
//
//	conflict := sourcetest.Refuse(http.StatusConflict)
//	server.Inject(sourcetest.Fault{On: sourcetest.Write, Do: conflict})
//
// # Roles
//
// The server has no RBAC. Package rbactest compares the requests of a program with its role.
package sourcetest
