// SPDX-License-Identifier: Apache-2.0

// Package clients runs informers of client-go, of controller-runtime and of this module over a
// handler of watch caches, while networks and servers fail. It has only tests.
//
//	API server ┄ network ┄▶ watch cache ─▶ handler ┄ network ┄▶ informers
//
// A network is a transport that breaks open connections, and refuses, answers or cuts off new ones,
// until it heals. The informers talk HTTP/1.1 and, with TLS, HTTP/2 on one connection. After each
// fault all of them must have the API server's objects.
package clients
