// SPDX-License-Identifier: Apache-2.0

// Package source turns one collection of the Kubernetes API into typed streams: the objects of a
// list, one by one, and the events of a watch.
//
// [Source] is the contract; [HTTP] is its implementation over a [Client], which speaks to an API
// server with the transport, the credentials and the TLS settings of a rest.Config. Reflectors and
// informers use the interface only.
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
// [github.com/informer-gen/informer-gen/runtime/writer] makes writes of it.
//
// # Formats
//
// A request asks for several formats in order of preference ([Options].Formats); the server
// chooses, and the Content-Type of the answer decides how it is read. By default, protobuf comes
// first for Go types that have it, and JSON next. Types that have protobuf are those of k8s.io/api,
// those that are generated in the same way, and metav1.PartialObjectMetadata. Servers have protobuf
// for their built-in kinds and for metadata, and JSON always. If a server refuses such a request
// with 406, the source asks for JSON alone, at once and from then on. The server may compress
// answers with gzip.
//
// JSON is read as by sigs.k8s.io/json, which API servers and client-go use: names are
// case-sensitive, unknown names are skipped, the last of several equal names wins, and integers
// inside untyped values are int64. Two decoders do this. A fast one reads what servers usually send
// and declines what is unusual or invalid. A slow one then decides what that input means. The slow
// one is github.com/go-json-experiment/json with options of version 1, or sigs.k8s.io/json itself
// for a type with an empty interface, a json.Number or an unusual json tag. In the same way,
// protobuf that the fast decoder declines is decoded by the type's own methods. A type whose new
// objects aren't zero values is always decoded in the slow way.
//
// The time to parse a resource.Quantity depends on the length of its text, not on its exponent. A
// quantity of less than 1n becomes 1n, as in apimachinery. One with more than 18 characters before
// an exponent over 1,000 is an error. Only where sigs.k8s.io/json decodes, or a type's own method,
// may such a text take minutes.
//
// Every object has its apiVersion and kind set, even if the server left them out. (Servers leave
// them out in lists of built-in kinds and in all protobuf.) So an object looks the same from a list
// and from a watch, in any format.
//
// # Parts of objects and of collections
//
// A source of *metav1.PartialObjectMetadata asks for the metadata of the objects only, for any
// resource. From a server that can't send less than whole objects it reads the metadata of those.
// [Options].Kind is the kind that the objects then carry. DropManagedFields and DropAnnotations
// leave parts of the metadata out of any object: these parts are not decoded at all. (Only objects
// that are decoded in the slow way have them for a moment.) ShardSelector restricts the collection
// to the objects whose hash is in a range.
//
// A source of a projection, a type with some fields of a kind (see [object.NoMeta]), asks for whole
// objects, and decodes the fields that the type has. In JSON, what it skips is not validated: of an
// object or array only quotes, backslashes and brackets are looked at, and brackets of both kinds
// count alike. The fields that it has are what they would be if the others were null. This is not
// promised for an answer that is not JSON. A decoder that validates all of an object is asked only
// if something about the fields is unusual. Protobuf is decoded by the tags of the fields; an
// object that isn't written as API servers write it is an error.
//
// # Memory
//
// A list is never held as a whole. Its objects are decoded while the response arrives and are
// handed over one by one. Decoding allocates only what the objects keep. The bytes that are read
// ahead are a buffer of some kilobytes, or one value if that is larger. All streams of the process
// reuse each other's buffers, also large ones; the garbage collector frees those that no stream
// needs. A length that is written in a response is not trusted: memory is allocated as bytes
// arrive. An object or event of more than 16 MiB, after decompression, is an error.
//
// A watch that waits holds a buffer of one kilobyte. After a burst of events it holds a larger one
// until the next bookmark. A Go type is analysed once in the process, when its first object is
// decoded. A decoder learns from the objects that it decodes, so it outlives the stream: a source
// shares one decoder with all sources that In has made of it, and has more of them only while
// several streams decode at the same time.
//
// With ReadOnly ([ListOptions], [WatchOptions]), equal parts of objects are in memory once. Each
// source has a table of up to 16 MB that remembers parts that repeat and forgets those that don't.
// Lists and watches use the same table, so a list that is read again shares its parts with the
// objects of the first one. The 16 MB count the memory of the parts themselves. Sources of other
// namespaces that In has made share the table. Short strings that repeat are shared in any case.
// With Known, another of these options, an object that the caller already has is not decoded again.
//
// A caller that has promised ReadOnly and writes to an object nevertheless changes other objects,
// too. Objects that the server sends afterwards are not affected: before a part is shared with
// another object, it is compared with what it was. The comparison is repeated when bytes arrive
// after a pause. In a stream without pauses it is repeated as often as it takes at most a fiftieth
// of the time, which means every few milliseconds for a thousand parts in use. When a change is
// found, it is logged, and from then on Known is not called, because any known object may have the
// changed part. Parts that the table has forgotten are not compared; a known object keeps them.
//
// A program may keep strings of objects that it has dropped, and such a string keeps little other
// memory alive. A name or a namespace keeps nothing else alive. Another string of up to 256 bytes
// may keep other short strings of its object alive, at most 2 KB of them. A longer string keeps
// only itself. A pointer to a field keeps the object, as in any Go program.
//
// # Ordering and blocking
//
// List and Watch run on the caller's goroutine and call back on it, one call at a time, in the
// order of the stream; net/http has a goroutine of its own for each connection. While a callback
// runs, the source reads nothing. A slow callback therefore slows the stream down, through TCP's
// flow control, and a server may close a watch that is read too slowly. An event that has arrived
// is handed over without waiting for what comes after it. A cancelled context ends the wait for the
// server at once. It does not interrupt a callback that is running, but no further callback starts.
// In short: the callback sets the pace, and nothing runs any more after List or Watch has returned.
//
// The warning handler of the rest.Config is called on the caller's goroutine.
//
// # Errors
//
// List, Watch and Do return one of these:
//
//   - context.Cause(ctx), when ctx is done
//   - the callback's error, unchanged
//   - *apierrors.StatusError, when the server refuses (any status other than 200, for Do other than
//     2xx) or sends an ERROR event, in any format; apierrors.SuggestsClientDelay finds the
//     Retry-After of either
//   - *DecodeError, when the server sends something other than what was asked for; it names the
//     item and its offset
//   - *url.Error and other errors of net/http, when the connection fails
//
// [ErrWrongFormat], [ErrWrongKind] and [ErrMalformed] are reasons of a DecodeError.
package source
