// SPDX-License-Identifier: Apache-2.0

//go:build unix

package serve

import (
	"net"
	"syscall"
)

// rawConn returns what tryWrite writes to; nil for a connection that is encrypted or no socket.
func rawConn(conn net.Conn) syscall.RawConn {
	if limited, ok := conn.(*counted); ok {
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

// tryWrite writes as much of data as a connection takes without waiting, and returns how much that
// is. It may be nothing, also because of an error, which the next Write will have too.
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
