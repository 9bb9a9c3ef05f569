// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package serve

import (
	"net"
	"syscall"
)

// rawConn returns nil: no connection can be written to without blocking.
func rawConn(net.Conn) syscall.RawConn { return nil }

func tryWrite(syscall.RawConn, []byte) int { return 0 }
