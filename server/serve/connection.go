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
	sentAtOnce = 64 << 10  // bytes that one write to a connection has, about
	worthGzip  = 128 << 10 // bytes from which on an answer is compressed, if the client likes that
)

// leastRate is how many bytes of a state a client must read in a second, by and large.
const leastRate = 1 << 20

// connection writes to a client, which has to read each write in time, and a state as a whole.
type connection struct {
	w       http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
	due     time.Time // when the client must have read all; zero: never
}

func (h *Handler) connection(w http.ResponseWriter) connection {
	return connection{w: w, control: http.NewResponseController(w), timeout: h.config.WriteTimeout}
}

// dueAfter returns when a client must have read a state of a size.
func (h *Handler) dueAfter(size int) time.Time {
	return time.Now().Add(h.config.StateTimeout + time.Duration(size/leastRate)*time.Second)
}

// deadline returns that of a write.
func (c connection) deadline() time.Time {
	at := time.Now().Add(c.timeout)
	if !c.due.IsZero() && c.due.Before(at) {
		return c.due
	}
	return at
}

// Write writes p before the deadline. A connection without deadlines, as in a test without a
// network, has none.
func (c connection) Write(p []byte) (int, error) {
	_ = c.control.SetWriteDeadline(c.deadline())
	return c.w.Write(p)
}

// flush sends what is written. Nothing has a deadline until the next write: over HTTP/2, one that
// passes ends the stream, though nothing is waiting to be sent.
func (c connection) flush() error {
	_ = c.control.SetWriteDeadline(c.deadline())
	err := c.control.Flush()
	_ = c.control.SetWriteDeadline(time.Time{})
	return err
}

// body is the body of an answer that is no stream.
type body struct {
	*bufio.Writer
	compressed *gzip.Writer // nil if it isn't
}

// compressors are for answers; each takes about a megabyte.
var compressors = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // there is such a level
	}
	return w
}}

// begin begins an answer of about size bytes.
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

// end sends the rest. The client has gone if that fails, and so if a write before it has failed:
// there is none to report it to.
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

// writeAll answers with data.
func (h *Handler) writeAll(w http.ResponseWriter, code int, format request.Format, data []byte, compress bool) {
	out := h.begin(w, code, format, len(data), compress)
	defer out.end()
	_, _ = out.Write(data)
}
