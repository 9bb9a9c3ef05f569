// SPDX-License-Identifier: Apache-2.0

// Package watchcache compares servers of list and watch with a real API server, request by request.
// It has only tests.
//
// A history of two dozen changes to custom resources, each with a name, is played to the API server
// of package devserver. Then the server gets the requests of testdata/answers.txt: lists at all
// versions, page by page, with selectors; gets; watches from anywhere, with and without present
// objects and bookmarks; mistakes of all sorts; more of it during and after further changes, after
// a compaction, and with a freshly filled watch cache. The file has the answer below each request,
// with versions replaced by the names of the changes that made them.
//
// A handler of package serve, over a watch cache whose storage is this API server, gets the same
// requests at the same time, and some hundred random others. Its answers are the API server's,
// except for the deviations in testdata/deviations.txt, with their reasons.
//
// The writes of testdata/writes.txt are sent to an API server and to a handler with a storage of
// its own. The answers have the same form, and testdata/writes-deviations.txt has the differences.
//
// # The file
//
//	== lists: pages
//	GET widgets?limit=2
//		200 rv=head next(head,a/three) remaining=4 [a/one@a1u a/three@a3]
//	GET widgets?watch=true&timeoutSeconds=2&resourceVersion={b1n}
//		stream DELETED(c/gone@c1d) ADDED(ab/five@head)
//
// Paths begin at /apis/samples.dev/v1/ unless they begin with a slash. Queries are not escaped.
// Fields of the header, and a body, follow after bars. {head} is the version of the change called
// head, {head+1} the one after it, and {page 2} a token. Requests of one section are sent at the
// same time. In answers, next(…) is a continue token: its version and the key after which it
// begins. A server decides when it sends bookmarks, so a stream has only the one that ends the
// present objects, and the one at the end.
//
// Writes are sent one after the other. {w3} and {u3} are the version and the uid made by the third.
//
//	go test ./test/watchcache             compares
//	go test ./test/watchcache -update     rewrites the answers: read the diff
//	go test ./test/watchcache -seed 17    sends the same random requests again
package watchcache
