// SPDX-License-Identifier: Apache-2.0

// Package source turns one collection of the Kubernetes API into typed streams: the objects of a list, one by one,
// and the events of a watch.
//
// [Source] is the contract; [HTTP] is its implementation over a [Client], which speaks to an API server with the
// transport, the credentials and the TLS settings of a rest.Config. What lies above (reflectors, informers) knows
// the interface only.
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
// A list is never held as a whole. Its objects are decoded from the response as its bytes arrive and handed over one
// by one; what is read ahead is a buffer of some kilobytes, or one value that has to be looked at as a whole.
//
// # Decoding
//
// JSON means what it means to sigs.k8s.io/json, which API servers and client-go use: names are matched by case,
// unknown names are skipped, the last of several equal names wins, and integers inside untyped values stay int64.
// Every object leaves with its apiVersion and kind set as the server names them, whether or not the server repeated
// them on the object (it does not inside the lists of built-in kinds), so that an object looks the same from a list
// and from a watch.
//
// # Ordering and blocking
//
// List and Watch run on the caller's goroutine, start none of their own, and call back on the same goroutine, one call
// at a time, in the order of the stream. While a callback runs, nothing more is read: a slow consumer slows the stream
// down by TCP's flow control, and a server may close a watch whose reader is too slow. A canceled context ends the wait
// for the server at once, but it does not interrupt a callback. Less formally: the callback sets the pace, and after
// List or Watch has returned nothing of it is left running.
//
// # Errors
//
//   - context.Cause(ctx), when ctx is done
//   - the callback's error, unchanged
//   - *apierrors.StatusError, when the server refuses (any status other than 200) or sends an ERROR event;
//     apierrors.SuggestsClientDelay finds the Retry-After of either
//   - *DecodeError, when what the server sends is not what was asked for; it names the item and its offset
//   - *url.Error and other errors of net/http, when the connection fails
package source
