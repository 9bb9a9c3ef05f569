// SPDX-License-Identifier: Apache-2.0

// Package source turns one collection of the Kubernetes API into typed streams: the objects of a
// list, one by one, and the events of a watch.
//
// [Source] is the contract; [HTTP] is its implementation over a [Client], which speaks to an API
// server with the transport, the credentials and the TLS settings of a rest.Config. Reflectors and
// informers know the interface only.
//
//	GET /apis/samples.io/v1/widgets?limit=500            GET …?watch=true&resourceVersion=42
//	{"kind":"WidgetList","apiVersion":"samples.io/v1",   {"type":"ADDED","object":{…}}
//	 "metadata":{"resourceVersion":"42","continue":"…"}, {"type":"BOOKMARK","object":{…}}
//	 "items":[{…},{…},…]}                                {"type":"ERROR","object":{"kind":"Status",…}}
//	             │                                                     │
//	             └────────────── feed: what has been read ─────────────┘    buffers, used again and again
//	                      scanner: where items end                          jsonFormat, protoFormat, cborFormat
//	                      decoder: what they are                            a fast one, and a slow one for what it declines
//	             ┌─────────────────────────────────────────────────────┐
//	         listReader                              watchReader            what has to hold for them in any format
//	             │                                                     │
//	     item(obj) error                                       event(Event) error
//
// # Formats
//
// A request asks for several formats in order of preference ([Options].Formats); the server
// chooses, and the answer's Content-Type decides how it is read. Unless the options say otherwise,
// protobuf comes first for Go types that have it, which are those of k8s.io/api and their like and
// metav1.PartialObjectMetadata, and JSON next. Servers have protobuf for their built-in kinds and
// for metadata, and JSON always. A server that refuses such a request with 406 is asked for JSON
// alone, at once and from then on. Answers are compressed with gzip if the server likes.
//
// CBOR, which servers have if it is switched on, is asked for only by options that name it. It has
// a fifth fewer bytes than JSON, but apimachinery decodes it: a list of 1,000 Pods takes 9 times
// JSON's time if objects share their parts and 3 times if they don't, and one of untyped objects
// 1.6 times (BenchmarkList). Objects from CBOR share nothing, and none is Known.
//
// JSON is read as by sigs.k8s.io/json, which API servers and client-go use: names are
// case-sensitive, unknown names are skipped, the last of several equal names wins, and integers
// inside untyped values are int64. Two decoders see to that: a fast one takes what servers send and
// declines what is unusual or wrong; a slow one decides what that means. It is
// github.com/go-json-experiment/json with options of version 1, or sigs.k8s.io/json itself for a
// type with an empty interface, a json.Number or an unusual json tag. In the same way, protobuf
// that the fast decoder declines is for the type's own methods. CBOR is decoded by apimachinery. A
// type whose new objects aren't zero values is always decoded in the slow way.
//
// Every object has its apiVersion and kind set, even if the server left them out (as it does inside
// lists of built-in kinds and in all of protobuf), so that an object looks the same from a list and
// from a watch, in any format.
//
// # Parts of objects and of collections
//
// A source of *metav1.PartialObjectMetadata asks for the metadata of the objects only, of whatever
// resource, and reads the metadata of whole objects from a server that can't send less.
// [Options].Kind says what the objects then say they are. DropManagedFields and DropAnnotations
// leave parts of the metadata out of any object, before they are decoded. (Objects that are decoded
// in the slow way have them for a moment.) ShardSelector restricts the collection to objects by a
// hash.
//
// # Memory
//
// A list is never held as a whole. Its objects are decoded while the response arrives and are
// handed over one by one. What decoding allocates is what the objects keep. Read ahead is a buffer
// of some kilobytes, or one value if it is larger, or half a megabyte of a response that is decoded
// by several goroutines. Buffers are used again, also large ones, by any stream of the process; the
// garbage collector takes those that no stream needs. Lengths in a response are not believed:
// memory is taken as bytes arrive, and an object of more than 256 MiB is an error, as is a frame of
// protobuf's watch of more than 16 MiB.
//
// A watch that waits holds a buffer of one kilobyte, or that of a burst of events until the next
// bookmark. How a Go type is decoded is found out once in the process, when its first object comes.
// A decoder, which learns from the objects that it decodes, belongs to no stream: a source, with
// all that In has made of it, keeps one, and more while several streams decode at the same time.
//
// With ReadOnly, equal parts of objects are in memory once: a table of up to 16 MB for each source
// remembers those that come again, forgets those that don't, and serves lists and watches alike, so
// that a list that is read again shares its parts with the objects of the first one. The 16 MB are
// what the parts take, whatever they are made of. Sources of other namespaces that In has made
// share the table. Short strings that repeat are shared in any case. With Known, an object that the
// caller has already is not decoded again, unless the server answers in CBOR.
//
// A caller that writes to such an object although it has promised not to, changes others, too. It
// changes none that the server sends afterwards: shared memory is compared with what it was before
// an object gets it. That is done again when bytes arrive after a pause, and in a stream without
// pauses as often as it takes at most a fiftieth of the time, which is within a few milliseconds
// for a thousand parts that are in use. Once such a change was found, the caller is not asked for
// known objects any more, because any of them may have the part, and the change is logged. What the
// table has forgotten is not compared; an object that is known keeps it.
//
// A program may keep strings of objects that are gone, and they keep little. A name or a namespace
// keeps nothing else. Another string of up to 256 bytes may keep strings of its object that are as
// short, at most 2 KB of them; a longer one keeps itself. A pointer to a field keeps the object, as
// in any Go program.
//
// # Ordering and blocking
//
// List and Watch run on the caller's goroutine and call back on it, one call at a time, in the
// order of the stream. While a callback runs, nothing more is read than the read-ahead: a slow
// consumer slows the stream down by TCP's flow control, and a server may close a watch whose reader
// is too slow. An event that has arrived is handed over without waiting for what comes after it. A
// cancelled context ends the wait for the server at once; it does not interrupt a callback, but
// there is no other one. Less formally: the callback sets the pace, and nothing is left running
// after List or Watch has returned.
//
// # Goroutines
//
// A response is read and decoded by the caller's goroutine alone (net/http has its own for each
// connection) until it has brought 256 KB without a pause and there is more. Then one goroutine
// reads, and up to three others, fewer than GOMAXPROCS, decode beside the caller's, which goes on
// to hand over. They end when the response does, when the callback fails or the context is done, or
// after a pause of the server; List and Watch wait for them. All that decode much at a time in the
// program, callers and their helpers, are GOMAXPROCS at most, or as many as there are callers: when
// several responses come at once, each is soon decoded by its caller alone, which takes the least
// time for all together. With GOMAXPROCS=1 nobody helps. If a method of a Go type panics while an
// object is decoded, or ends its goroutine, that happens to the caller's.
//
// A server's warnings go to the rest.Config's handler on the caller's goroutine.
//
// # Errors
//
// List and Watch return one of these:
//
//   - context.Cause(ctx), when ctx is done
//   - the callback's error, unchanged
//   - *apierrors.StatusError, when the server refuses (any status other than 200) or sends an ERROR
//     event, in any format; apierrors.SuggestsClientDelay finds the Retry-After of either
//   - *DecodeError, when what the server sends is not what was asked for; it names the item and its
//     offset
//   - *url.Error and other errors of net/http, when the connection fails
//
// [ErrWrongFormat], [ErrWrongKind], [ErrNoName], [ErrNoResourceVersion], [ErrUnknownEvent] and
// [ErrMalformed] are reasons of a DecodeError.
package source
