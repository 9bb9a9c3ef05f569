// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package e2e

import (
	"net"
	"testing"
)

// reserve returns an address of this machine at which nothing listens. Other programs may take it:
// only Linux has a way to hold it.
func reserve(t *testing.T) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
