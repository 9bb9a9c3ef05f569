// SPDX-License-Identifier: Apache-2.0

// Package clients has informers of client-go, of controller-runtime and of this module read from a
// handler of watch caches, while networks and servers fail. It has only tests.
//
//	API server ┄ network ┄▶ watch cache ─▶ handler ┄ network ┄▶ informers
//
// A network is a transport that breaks the connections that are open, and refuses, answers or cuts
// off those that follow, until it heals. The informers talk HTTP/1.1 and, with TLS, HTTP/2 on one
// connection. After each fault all of them must have what the API server has.
package clients
