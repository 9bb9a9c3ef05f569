// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// FuzzFromThisMachine: a request is accepted only if package net parses its address and Host as the
// loopback, and no proxy has named itself.
func FuzzFromThisMachine(f *testing.F) {
	for _, host := range []string{"localhost", "LOCALHOST.:80", "127.0.0.1:1", "[::1]:1", "[::ffff:127.0.0.1]", "::1%lo", "localhost.evil.example", "127.0.0.1.evil.example:80", "[localhost]", "0", "", "127.1", "0x7f.1", "localhost:80:80", "a@localhost"} {
		f.Add("127.0.0.1:1", host, "X-Forwarded-For", "")
	}
	f.Add("[::1]:1", "localhost", "via", "x")
	f.Add("192.0.2.1:1", "localhost", "", "")
	f.Add("@", "localhost", "", "")
	f.Fuzz(func(t *testing.T, from, host, header, value string) {
		req := &http.Request{RemoteAddr: from, Host: host, URL: &url.URL{}, Header: http.Header{}}
		req.Header.Set(header, value)
		if FromThisMachine(req) != nil {
			return
		}
		for _, text := range []string{from, host} {
			name, port := text, ""
			if inner, rest, ok := strings.Cut(strings.TrimPrefix(text, "["), "]"); ok {
				name, port = inner, rest
			} else if strings.Count(text, ":") == 1 {
				name, port, _ = strings.Cut(text, ":")
			}
			address, _, _ := strings.Cut(name, "%")
			if !net.ParseIP(address).IsLoopback() && (text == from || !strings.EqualFold(strings.TrimSuffix(name, "."), "localhost")) {
				t.Errorf("%q, with port %q, counts as the loopback", text, port)
			}
		}
		for _, name := range forwarded {
			if req.Header.Get(name) != "" {
				t.Errorf("a request with %v is accepted", req.Header)
			}
		}
	})
}
