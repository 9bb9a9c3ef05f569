// SPDX-License-Identifier: Apache-2.0

// Package source turns one collection of the Kubernetes API into typed streams: the objects of a list, one by one,
// and the events of a watch.
//
// [Source] is the contract; [HTTP] is its implementation over a [Client], which speaks to an API server with the
// transport, the credentials and the TLS settings of a rest.Config. Reflectors and informers know the interface only.
//
//	GET /apis/samples.io/v1/widgets?limit=500            GET …?watch=true&resourceVersion=42
//	{"kind":"WidgetList","apiVersion":"samples.io/v1",   {"type":"ADDED","object":{…}}
//	 "metadata":{"resourceVersion":"42","continue":"…"}, {"type":"BOOKMARK","object":{…}}
//	 "items":[{…},{…},…]}                                {"type":"ERROR","object":{"kind":"Status",…}}
//	             │                                                     │
//	             │     wire: jsonWire, protoWire or cborWire           │    how values are delimited and decoded
//	             └──────────── one object decoded at a time ───────────┘
//	         listReader                              watchReader            what has to hold for them in any format
//	             │                                                     │
//	     item(obj) error                                       event(Event) error
//
// # Formats
//
// A request asks for several formats in order of preference ([Options].Formats); the server chooses, and the answer's
// Content-Type decides how it is read. Unless the options say otherwise, protobuf comes first for Go types that have it, which
// are those of k8s.io/api and their like and metav1.PartialObjectMetadata, then CBOR, then JSON. Servers have protobuf for their
// built-in kinds and for metadata, CBOR if it is switched on, and JSON always. To decode protobuf takes less than half of the time of
// JSON; to decode CBOR takes half as long again, although it is smaller. A server that refuses such a request with 406 is asked
// for JSON alone, at once and from then on. Answers are compressed with gzip if the server likes.
//
// JSON is read as by sigs.k8s.io/json, which API servers and client-go use: names are case-sensitive, unknown names are
// skipped, the last of several equal names wins, and integers inside untyped values are int64. A type with an empty interface, a
// json.Number or an unusual json tag in it is decoded by sigs.k8s.io/json itself, which takes twice as long. Protobuf is decoded by
// the type's own methods, CBOR by apimachinery.
//
// Every object has its apiVersion and kind set, even if the server left them out (as it does inside lists of built-in
// kinds and in all of protobuf), so that an object looks the same from a list and from a watch, in any format.
//
// # Parts of objects and of collections
//
// A source of *metav1.PartialObjectMetadata asks for the metadata of the objects only, of whatever resource, and reads the
// metadata of whole objects from a server that can't send less. [Options].Kind says what the objects then say they are.
// DropManagedFields and DropAnnotations leave parts of the metadata out of any object, before they are decoded. (Only objects whose
// type is not made like those of API packages, and those that sigs.k8s.io/json decodes, have them for a moment.)
// ShardSelector restricts the collection to objects by a hash.
//
// # Memory
//
// A list is never held as a whole. Its objects are decoded while the response arrives and are handed over one by one.
// Read ahead is a buffer of some kilobytes, or one value that has to be examined as a whole, which in protobuf and CBOR is each
// object; that buffer is used again for the next one. Lengths in a response are not believed: memory is taken as bytes arrive,
// and an object of more than 256 MiB is an error, as is a frame of protobuf's watch of more than 16 MiB.
//
// # Ordering and blocking
//
// List and Watch run on the caller's goroutine, start no other (net/http has its own for each connection), and call back
// on the same goroutine, one call at a time, in the order of the stream. While a callback runs, nothing more is read: a
// slow consumer slows the stream down by TCP's flow control, and a server may close a watch whose reader is too slow. A
// cancelled context ends the wait for the server at once; it does not interrupt a callback, but there is no other one. Less
// formally: the callback sets the pace, and nothing is left running after List or Watch has returned.
//
// # Goroutines
//
// There are none. A server's warnings go to the rest.Config's handler on the caller's goroutine, too.
//
// # Errors
//
// List and Watch return one of these:
//
//   - context.Cause(ctx), when ctx is done
//   - the callback's error, unchanged
//   - *apierrors.StatusError, when the server refuses (any status other than 200) or sends an ERROR event, in any format;
//     apierrors.SuggestsClientDelay finds the Retry-After of either
//   - *DecodeError, when what the server sends is not what was asked for; it names the item and its offset
//   - *url.Error and other errors of net/http, when the connection fails
//
// [ErrWrongFormat], [ErrWrongKind], [ErrNoName], [ErrNoResourceVersion], [ErrUnknownEvent] and [ErrMalformed] are reasons of a
// DecodeError.
package source
