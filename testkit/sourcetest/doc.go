// SPDX-License-Identifier: Apache-2.0

// Package sourcetest is an API server in memory, for tests of informers and of controllers. It
// answers requests that read and write objects as a Kubernetes API server does, with the real wire
// format, and makes the faults that a test asks for.
//
//	server := sourcetest.New()
//	gvr := corev1.SchemeGroupVersion.WithResource("pods")
//	pods := sourcetest.Serve[*corev1.Pod](server, gvr, "Pod")
//	client, err := source.NewClient(server.Config())
//	factory := factories.New(client)
//	factories.For[*corev1.Pod](factory, gvr)
//	err = factory.Start(ctx)
//
// The test writes objects by the methods of a [Collection], and the code under test by requests of
// its client: client-go's typed and dynamic clients work, and so do others that need no discovery.
// The informers see both. A resource exists once [Serve] has been called: before that, it is
// answered with 404, as one whose CustomResourceDefinition has not been installed.
//
// # Connection
//
// A [Server] is an http.RoundTripper, which [Server.Config] puts into a rest.Config, and an
// http.Handler, for httptest.NewServer. Use [Server.Config] unless the test is about connections:
// it works in a bubble of testing/synctest, where a watch that waits is durably blocked and minutes
// pass at once. A Server belongs to the bubble in which it was made.
//
// # What it does as an API server does
//
// Requests are read and refused as by package serve, with the same rules of writes for all kinds.
// Lists and watches are those of package watchcache; all else is this package's own.
//
//   - Formats of what is sent and received: JSON, and Kubernetes' protobuf for Go types that have
//     it, also as PartialObjectMetadata, by Accept; 406 if no format fits. Go types that have
//     protobuf are sent as built-in kinds are, without a kind in the items of lists; in lists of
//     other types, the list's kind and metadata stand behind the items.
//   - Lists: resourceVersion, resourceVersionMatch, limit, continue. They are sorted by namespace,
//     slash and name as one text, as storage is. Pages stand at the version of the first one; with
//     selectors, the last page may be empty. A list at version "0" is whole. A version that is not
//     reached yet is waited for, 3 s, and then is 504 (too large); an exact one before the last
//     compaction is 410, for a page with a token that goes on in the newest state.
//   - Watches: from a version, from "" or "0" with the present objects first (unless
//     sendInitialEvents is false), or as a watch-list (KEP-3157). If it allows bookmarks, one ends
//     the initial events. A version before the last compaction is an ERROR event of code 410; until
//     a version is reached that lies in the future, a watch sends nothing. Bookmarks come each
//     [Server.BookmarkInterval] and 2 s before the end if something has changed; timeoutSeconds
//     ends a watch, and without it a watch ends after 30 minutes.
//   - Selection by namespace, labels and fields. An object that enters or leaves a watch's
//     selection is ADDED or DELETED.
//   - Writes: uid, creationTimestamp, generateName, and resourceVersions from one counter for all
//     resources. Metadata is validated. An update of an older version is a Conflict (409), and one
//     that changes nothing is no write. dryRun writes nothing. See below for what depends on the
//     kind.
//   - Status: if objects have a status, create and update ignore it, and the status subresource
//     writes nothing else, unless [Collection.WithoutStatus] was called.
//   - Generation: 1 at first, raised by changes outside of metadata and status, and by the delete.
//   - Patches: JSON patches (RFC 6902) and merge patches (RFC 7386). With [Server.Patches],
//     strategic merge patches and server-side apply with owners of fields and conflicts, too. For
//     apply, lists are replaced as a whole unless a TypeConverter knows the kind. Owners are kept
//     from the first apply on.
//   - Deletes, of one object or of a selection: preconditions, and finalizers, which keep the
//     object with a deletionTimestamp until the last one is removed. Objects without are gone at
//     once.
//
// Kinds whose Go type has protobuf have the rules of built-in kinds: an update without a
// resourceVersion is unconditional, strategic merge patches are understood, and the generation is
// counted if there is a spec. Other kinds have those of custom resources: the resourceVersion must
// be given (422), strategic merge patches are 415, and the generation is always counted.
//
// It does not default objects or validate what is not metadata, has no admission, no discovery, no
// subresources but status, and no managers of fields before the first apply. It collects no
// dependents: propagationPolicy and gracePeriodSeconds are accepted and change nothing. Requests
// that it does not know are answered with 404 and 405.
//
// # Ordering and blocking
//
// Writes to all collections have one order, that of their resourceVersions. A write is done when
// its method returns, or its answer begins: a request that comes later sees it, and each open watch
// will send it, in that order, when its body is read. No method of Server or Collection waits for a
// client, however slow: a watch is a cursor in the history, and no event is dropped. Compact
// forgets nothing that an open watch still has to send.
//
// The functions of a Fault are called on the goroutine that makes the request or reads the body,
// without a lock held, except Match.
//
// In short: after a write the informers get the event soon; to wait until they have it, use their
// AwaitResourceVersion.
//
// # Goroutines
//
// A Server starts none. Without a socket, everything happens on the goroutines of the client; a
// Read that waits for an event ends with the request's context, with Close, or when the watch's
// time is over. Over a socket, net/http has its own goroutines, which end with the connection.
//
// # Faults
//
// A [Fault] chooses requests and changes their [Answer]: the answer may be an error, come late or
// never, carry other objects, or break off. Its Do is a function, so faults compose as functions
// do.
//
//	refuse := sourcetest.Refuse(http.StatusForbidden)
//	server.Inject(sourcetest.Fault{On: sourcetest.List, Times: 3, Do: refuse})
//
// A fault that answers a write with an error keeps it from being done; one that delays the answer
// or cuts it off does not:
//
//	conflict := sourcetest.Refuse(http.StatusConflict)
//	server.Inject(sourcetest.Fault{On: sourcetest.Write, Do: conflict})
//
// [Server.Requests] returns the requests that were made, and when.
package sourcetest
