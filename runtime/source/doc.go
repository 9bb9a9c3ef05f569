// SPDX-License-Identifier: Apache-2.0

// Package source turns one collection of the Kubernetes API into typed streams: the objects of a
// list, one by one, and the events of a watch.
//
// [Source] is the contract; [HTTP] implements it over a [Client], which speaks to an API server
// with the transport, credentials and TLS settings of a rest.Config.
//
//	GET /apis/samples.io/v1/widgets?limit=500     GET …?watch=true&resourceVersion=42
//	{"kind":"WidgetList", "apiVersion":           {"type":"ADDED","object":{…}}
//	 "samples.io/v1","metadata":{…},              {"type":"BOOKMARK","object":{…}}
//	 "items":[{…},{…},…]}                         {"type":"ERROR","object":{"kind":"Status",…}}
//	             │                                               │
//	             └─ HTTP: requests, refusals, formats to ask for ┘
//	             ┌─ internal/decode: bytes → checked items       ┐
//	             │                                               │
//	     item(obj) error                                 event(Event) error
//
// [HTTP.Do] sends a request about one object, such as a create or a patch. Package
// [github.com/informer-gen/informer-gen/runtime/writer] builds writes on it.
//
// # Formats
//
// A request names formats in order of preference ([Options].Formats); the server chooses, and the
// answer's Content-Type selects the decoder. The types of k8s.io/api, types generated the same way,
// and metav1.PartialObjectMetadata can be decoded from protobuf. Servers have protobuf for built-in
// kinds and for metadata, and JSON always.
//
// JSON is read as by sigs.k8s.io/json, which API servers and client-go use: names are
// case-sensitive, unknown names are skipped, the last of several equal names wins, and integers in
// untyped values are int64. A fast decoder leaves anything unusual or invalid to a slow one.
// Likewise, unusual protobuf is decoded by the type's own methods. A type whose new objects aren't
// zero values is always decoded the slow way.
//
// The time to parse a resource.Quantity depends on the length of its text, not on its exponent.
// More than 18 characters before an exponent over 1,000 are an error; if sigs.k8s.io/json or a
// type's own method decodes them, they may take minutes.
//
// Every object has its apiVersion and kind set, even where servers omit them: in lists of built-in
// kinds and in all protobuf.
//
// # Parts of objects and of collections
//
// A source of *metav1.PartialObjectMetadata asks only for metadata, for any resource. If the server
// sends whole objects instead, the source reads just their metadata.
//
// A source of a projection, a type with some fields of a kind (see [object.NoMeta]), asks for whole
// objects and decodes only the type's fields, as if the others were null. In JSON, skipped parts
// are not validated, so nothing is promised for an answer that is not JSON. Protobuf is decoded by
// the fields' tags; an object not written the way API servers write it is an error.
//
// With Keep ([ListOptions], [WatchOptions]), only the metadata of foreign objects is decoded. The
// rest is checked, as JSON or as protobuf. A dropped event moves a watch on like a bookmark, and is
// handed over as one.
//
// A shard selector (KEP-5866) asks the server for a part. The source applies it, too, because most
// servers ignore it. [ListResult].Sharded and [HonorsShards] tell.
//
// # Memory
//
// A list is never held as a whole: its objects are decoded as the response arrives and handed over
// one by one. Decoding allocates only the objects' own memory. The read-ahead buffer is a few
// kilobytes, or one value if that is larger. All streams of the process reuse each other's buffers.
// A length written in a response is not trusted: memory is allocated as bytes arrive. An object or
// event of more than 16 MiB after decompression is an error.
//
// A waiting watch holds a buffer of 512 bytes; after a burst of events, a larger one until the next
// bookmark.
//
// With ReadOnly ([ListOptions], [WatchOptions]), equal parts of objects are in memory once. A
// source, together with the sources derived from it with In, has a table of repeated parts of up to
// 16 MB, which counts the memory of the parts. Repeated short strings are shared in any case.
//
// A caller that writes to an object despite promising ReadOnly changes other objects, too. Later
// objects of the server are not affected: before a part is shared, it is compared with its original
// content. The comparison is repeated when bytes arrive after a pause. A change is logged, and from
// then on Known is not called, because any known object may have the changed part. Parts the table
// has forgotten are not compared; a known object keeps them.
//
// A string kept after its object was dropped keeps little other memory alive: a name or namespace
// none, another string of up to 256 bytes at most 2 KB of its object's other short strings, a
// longer one none.
//
// # Ordering and blocking
//
// List and Watch run on the caller's goroutine, as [Source] says; net/http has goroutines of its
// own for connections. While a callback runs, the source reads nothing, so a slow callback slows
// the stream down through TCP's flow control, and a server may close a watch read too slowly. An
// event is handed over as soon as it has arrived. A cancelled context ends the wait for the server
// at once, but does not interrupt a running callback; no further one starts. Nothing runs any more
// after List or Watch has returned.
//
// # Errors
//
// List, Watch and Do return one of these:
//
//   - context.Cause(ctx), when ctx is done
//   - the callback's error, unchanged
//   - *apierrors.StatusError, when the server refuses (any status other than 200, for Do other than
//     2xx) or sends an ERROR event, in any format; apierrors.SuggestsClientDelay finds the
//     Retry-After of either; Do may wrap it, so look for it with [errors.As] or the functions of
//     apierrors
//   - *DecodeError, when the server's answer doesn't fit the request; it names the item and its
//     offset
//   - *url.Error and other errors of net/http, when the connection fails
package source
