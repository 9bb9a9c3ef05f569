// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"io"
	"strings"
	"sync/atomic"
	"testing"
)

// Types of frames, and flags.
const (
	dataFrame         = 0
	headersFrame      = 1
	priorityFrame     = 2
	resetFrame        = 3
	settingsFrame     = 4
	pingFrame         = 6
	goAwayFrame       = 7
	windowUpdateFrame = 8
	continuationFrame = 9

	ack             = 1
	endStream       = 1
	endHeaders      = 4
	enhanceCalm     = 11 // the error ENHANCE_YOUR_CALM
	firstHeaders    = endStream
	completeHeaders = endStream | endHeaders
	headersOfPost   = endHeaders
)

// rawHTTP2 is a client that sends single frames.
type rawHTTP2 struct {
	conn   *tls.Conn
	out    *bufio.Writer // Flush returns its errors
	calmed chan bool     // gets, at the connection's end, whether the server sent ENHANCE_YOUR_CALM

	answers atomic.Int64 // number of answers that have begun
}

func dialHTTP2(t testing.TB, url string) *rawHTTP2 {
	t.Helper()
	conn, err := tls.Dial("tcp", strings.TrimPrefix(url, "https://"), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	c := &rawHTTP2{conn: conn, out: bufio.NewWriter(conn), calmed: make(chan bool, 1)}
	go c.read()
	_, _ = c.out.WriteString("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	c.frame(settingsFrame, 0, 0, nil)
	c.frame(settingsFrame, ack, 0, nil)
	return c
}

// read reads the server's frames.
func (c *rawHTTP2) read() {
	var header [9]byte
	for in := bufio.NewReader(c.conn); ; {
		if _, err := io.ReadFull(in, header[:]); err != nil {
			c.calmed <- false
			return
		}
		size := int64(header[0])<<16 | int64(header[1])<<8 | int64(header[2])
		if header[3] == headersFrame {
			c.answers.Add(1)
		}
		payload, err := io.ReadAll(io.LimitReader(in, size))
		if err != nil || header[3] == goAwayFrame && len(payload) >= 8 && binary.BigEndian.Uint32(payload[4:]) == enhanceCalm {
			c.calmed <- err == nil
			return
		}
	}
}

// end flushes the buffered frames, and waits for the end of the connection. It reports whether the
// server has sent ENHANCE_YOUR_CALM.
func (c *rawHTTP2) end() (calm bool) {
	_ = c.out.Flush()
	_ = c.conn.CloseWrite()
	calm = <-c.calmed
	_ = c.conn.Close()
	return calm
}

func (c *rawHTTP2) frame(kind, flags byte, stream uint32, payload []byte) {
	header := [9]byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags}
	binary.BigEndian.PutUint32(header[5:], stream)
	_, _ = c.out.Write(append(header[:], payload...))
}

// request sends a GET.
func (c *rawHTTP2) request(stream uint32, path, token string) {
	c.frame(headersFrame, completeHeaders, stream, headerBlock(0x82, path, token))
}

// headerBlock returns the headers of a request; method is the method's index in HPACK's table.
func headerBlock(method byte, path, token string) []byte {
	var block bytes.Buffer
	block.Write([]byte{method, 0x87, 0x41, 1, 'x', 0x04}) // https, the authority x, a path
	writeText(&block, path)
	block.Write([]byte{0x0f, 0x08}) // authorization
	writeText(&block, "Bearer "+token)
	return block.Bytes()
}

// writeText writes a string of less than 127 bytes in HPACK's encoding.
func writeText(w *bytes.Buffer, text string) {
	w.WriteByte(byte(len(text)))
	w.WriteString(text)
}
