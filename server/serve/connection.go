// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"bufio"
	"compress/gzip"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/informer-gen/informer-gen/internal/request"
)

const (
	sentAtOnce = 64 << 10  // bytes of one write to a connection, about
	worthGzip  = 128 << 10 // smallest size of a compressed answer in bytes
)

// leastRate is the rate, in bytes a second, at which a client must read a state.
const leastRate = 1 << 20

type connection struct {
	w       http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
	due     time.Time // deadline for all writes together; zero: none
}

func (h *Handler) connection(w http.ResponseWriter) connection {
	return connection{w: w, control: http.NewResponseController(w), timeout: h.config.WriteTimeout}
}

func (h *Handler) dueAfter(size int) time.Time {
	return time.Now().Add(h.config.StateTimeout + time.Duration(size/leastRate)*time.Second)
}

func (c connection) deadline() time.Time {
	at := time.Now().Add(c.timeout)
	if !c.due.IsZero() && c.due.Before(at) {
		return c.due
	}
	return at
}

// Write writes p before the deadline, where the connection supports deadlines.
func (c connection) Write(p []byte) (int, error) {
	_ = c.control.SetWriteDeadline(c.deadline())
	return c.w.Write(p)
}

// flush sends buffered data and clears the deadline: over HTTP/2, a deadline that passes ends the
// stream, even if no data is waiting.
func (c connection) flush() error {
	_ = c.control.SetWriteDeadline(c.deadline())
	err := c.control.Flush()
	_ = c.control.SetWriteDeadline(time.Time{})
	return err
}

type body struct {
	*bufio.Writer
	compressed *gzip.Writer // nil if it isn't compressed
}

// compressors pools gzip writers, about a megabyte each.
var compressors = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is valid
	}
	return w
}}

// begin begins an answer of about size bytes. compress is set if the client accepts gzip.
func (h *Handler) begin(w http.ResponseWriter, code int, format request.Format, size int, compress bool) body {
	conn := h.connection(w)
	conn.due = h.dueAfter(size)
	var to io.Writer = conn
	var compressed *gzip.Writer
	w.Header().Set("Content-Type", string(format))
	if compress && size > worthGzip {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Add("Vary", "Accept-Encoding")
		compressed = compressors.Get().(*gzip.Writer)
		compressed.Reset(to)
		to = compressed
	}
	w.WriteHeader(code)
	return body{bufio.NewWriterSize(to, sentAtOnce), compressed}
}

// end sends the rest. Errors mean the client has gone.
func (b body) end() {
	err := b.Flush()
	if b.compressed == nil {
		return
	}
	if err == nil {
		_ = b.compressed.Close()
	}
	compressors.Put(b.compressed)
}

func (h *Handler) writeAll(w http.ResponseWriter, code int, format request.Format, data []byte, compress bool) {
	out := h.begin(w, code, format, len(data), compress)
	defer out.end()
	_, _ = out.Write(data)
}
