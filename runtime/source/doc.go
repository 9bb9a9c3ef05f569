// SPDX-License-Identifier: Apache-2.0

// Package source turns one collection of the Kubernetes API into typed streams: the objects of a list, one by one,
// and the events of a watch.
//
// [Source] is the contract; [HTTP] is its implementation over a [Client], which speaks to an API server with the
// transport, the credentials and the TLS settings of a rest.Config. Reflectors and informers know the interface only.
//
//	GET /apis/samples.io/v1/widgets?limit=500            GET …?watch=1&resourceVersion=42
//	{"kind":"WidgetList","apiVersion":"samples.io/v1",   {"type":"ADDED","object":{…}}
//	 "metadata":{"resourceVersion":"42","continue":"…"}, {"type":"BOOKMARK","object":{…}}
//	 "items":[{…},{…},…]}                                {"type":"ERROR","object":{"kind":"Status",…}}
//	             │                                                     │
//	             └──────────── one object decoded at a time ───────────┘
//	                           │                       │
//	                     item(obj) error         event(Event) error
//
// # Memory
//
// A list is never held as a whole. Its objects are decoded while the response arrives and are handed over one by one.
// Read ahead is a buffer of some kilobytes, or one value that has to be examined as a whole.
//
// # Decoding
//
// JSON is read as by sigs.k8s.io/json, which API servers and client-go use: names are case-sensitive, unknown names are
// skipped, the last of several equal names wins, and integers inside untyped values are int64. Every object has its
// apiVersion and kind set as the server names them, even if the server left them out (as it does inside lists of built-in
// kinds), so that an object looks the same from a list and from a watch.
//
// # Ordering and blocking
//
// List and Watch run on the caller's goroutine, start no other (net/http has its own for each connection), and call back
// on the same goroutine, one call at a time, in the order of the stream. While a callback runs, nothing more is read: a
// slow consumer slows the stream down by TCP's flow control, and a server may close a watch whose reader is too slow. A
// cancelled context ends the wait for the server at once, but does not interrupt a callback. Less formally: the callback
// sets the pace, and nothing is left running after List or Watch has returned.
//
// # Errors
//
// List and Watch return one of these:
//
//   - context.Cause(ctx), when ctx is done
//   - the callback's error, unchanged
//   - *apierrors.StatusError, when the server refuses (any status other than 200) or sends an ERROR event;
//     apierrors.SuggestsClientDelay finds the Retry-After of either
//   - *DecodeError, when what the server sends is not what was asked for; it names the item and its offset
//   - *url.Error and other errors of net/http, when the connection fails
package source
