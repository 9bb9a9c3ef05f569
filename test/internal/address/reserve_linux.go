// SPDX-License-Identifier: Apache-2.0

// Package address finds addresses at which a test may listen.
package address

import (
	"fmt"
	"os"
	"syscall"
	"testing"
)

// Reserve returns an address of this machine at which processes may listen, one after the other.
// Nothing else gets the port until the test ends: it is bound here. Linux still lets a process
// listen at it, because both sockets may reuse addresses and this one doesn't listen.
func Reserve(t *testing.T) (address string) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(os.NewSyscallError("socket", err))
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		t.Fatal(os.NewSyscallError("setsockopt", err))
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(os.NewSyscallError("bind", err))
	}
	bound, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(os.NewSyscallError("getsockname", err))
	}
	return fmt.Sprint("127.0.0.1:", bound.(*syscall.SockaddrInet4).Port)
}
