// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package address

import (
	"net"
	"testing"
)

// Reserve returns an address of this machine at which nothing listens. Other programs may take it:
// only Linux has a way to hold it.
func Reserve(t *testing.T) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
