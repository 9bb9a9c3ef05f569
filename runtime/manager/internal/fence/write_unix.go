// SPDX-License-Identifier: Apache-2.0

//go:build unix

package fence

import "syscall"

// Write looks at the clock before each system call. Conn.Write would not: it may wait for the peer
// and then send the rest.
func (c *conn) Write(p []byte) (n int, err error) {
	if c.raw == nil {
		if err := c.err(); err != nil {
			return 0, err
		}
		return c.Conn.Write(p)
	}
	closed := c.raw.Write(func(fd uintptr) (done bool) {
		for n < len(p) {
			if err = c.err(); err != nil {
				return true
			}
			var sent int
			sent, err = syscall.Write(int(fd), p[n:])
			switch {
			case err == nil:
				n += sent
			case err == syscall.EAGAIN:
				return false // called again when there is room
			case err != syscall.EINTR:
				return true
			}
		}
		return true
	})
	if closed != nil {
		return n, closed
	}
	return n, err
}
