// SPDX-License-Identifier: Apache-2.0

//go:build unix

package serve

import (
	"net"
	"syscall"
)

// rawConn returns the connection's socket for tryWrite; nil if it is encrypted or has no socket.
func rawConn(conn net.Conn) syscall.RawConn {
	if limited, ok := conn.(*limitedConn); ok {
		conn = limited.Conn
	}
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}

// tryWrite writes the part of data that the connection takes without blocking, and returns its
// length. That may be 0, also after an error, which the next Write will return too.
func tryWrite(raw syscall.RawConn, data []byte) (n int) {
	if raw == nil {
		return 0
	}
	err := raw.Write(func(fd uintptr) bool {
		n, _ = syscall.Write(int(fd), data)
		return true
	})
	if err != nil {
		return 0
	}
	return max(n, 0)
}
