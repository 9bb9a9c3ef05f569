// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package fence

func (c *conn) Write(p []byte) (int, error) {
	if err := c.err(); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}
