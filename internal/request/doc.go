// SPDX-License-Identifier: Apache-2.0

// Package request reads requests about objects. It refuses the same requests as an API server, with
// the same status, reason and message.
//
//	path ─▶ Target ─▶ Accept ─▶ parameters ─▶ fields ─▶ state ─▶ Request ─▶ body ─▶ Write
//
// Each step may refuse. The order is an API server's, so a request with two mistakes gets the same
// answer. Checks that need the objects are left to the caller: whether a version is too old, was
// never reached, or has an object of that name. For writes, object.go has the rules for objects of
// all kinds.
//
// # States
//
// The parameters resourceVersion, resourceVersionMatch, limit, continue and sendInitialEvents
// determine a [State], a place to begin in the list, and whether a watch begins with the present
// objects.
//
//	list      resourceVersion  match         limit, continue   State
//	          none             none                            Newest
//	          0                any but exact limit is ignored  Any
//	          N                none                            NotOlderThan N
//	          N                none          limit             Exactly N
//	          N                NotOlderThan                    NotOlderThan N
//	          N                Exact                           Exactly N
//	          none or 0                      continue at N     Exactly N, from its key
//	          none or 0                      continue at -1    Newest, from its key
//
//	watch     resourceVersion  sendInitialEvents     State, and content
//	          none, 0          none means true       Newest, Any: objects, then changes
//	          N                true                  NotOlderThan N: objects, then changes
//	          none, 0          false                 Newest, Any: changes
//	          N                none or false         Exactly N: changes
//
// A get is like a list without match, limit and continue.
package request
