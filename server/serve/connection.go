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
	writeSize   = 64 << 10  // approximate bytes in one write to a connection
	minGzipSize = 128 << 10 // smallest size of a compressed answer in bytes
)

// minReadRate is the rate, in bytes a second, at which a client must read a state.
const minReadRate = 1 << 20

type connection struct {
	w             http.ResponseWriter
	control       *http.ResponseController
	timeout       time.Duration
	stateDeadline time.Time // deadline for all writes of a state together; zero: none
}

func (h *Handler) connection(w http.ResponseWriter) connection {
	return connection{w: w, control: http.NewResponseController(w), timeout: h.config.WriteTimeout}
}

func (h *Handler) stateDeadline(size int) time.Time {
	return time.Now().Add(h.config.StateTimeout + time.Duration(size/minReadRate)*time.Second)
}

func (c connection) writeDeadline() time.Time {
	at := time.Now().Add(c.timeout)
	if !c.stateDeadline.IsZero() && c.stateDeadline.Before(at) {
		return c.stateDeadline
	}
	return at
}

// Write writes p before the deadline, where the connection supports deadlines.
func (c connection) Write(p []byte) (int, error) {
	_ = c.control.SetWriteDeadline(c.writeDeadline())
	return c.w.Write(p)
}

// flush sends buffered data and clears the deadline: over HTTP/2, a deadline that passes ends the
// stream, even if no data is waiting.
func (c connection) flush() error {
	_ = c.control.SetWriteDeadline(c.writeDeadline())
	err := c.control.Flush()
	_ = c.control.SetWriteDeadline(time.Time{})
	return err
}

type responseBody struct {
	*bufio.Writer
	gzip *gzip.Writer // nil if it isn't compressed
}

// compressors pools gzip writers, about a megabyte each.
var compressors = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is valid
	}
	return w
}}

// begin begins an answer of about size bytes.
func (h *Handler) begin(w http.ResponseWriter, code int, format request.Format, size int, acceptsGzip bool) responseBody {
	conn := h.connection(w)
	conn.stateDeadline = h.stateDeadline(size)
	var to io.Writer = conn
	var compressed *gzip.Writer
	w.Header().Set("Content-Type", string(format))
	if acceptsGzip && size > minGzipSize {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Add("Vary", "Accept-Encoding")
		compressed = compressors.Get().(*gzip.Writer)
		compressed.Reset(to)
		to = compressed
	}
	w.WriteHeader(code)
	return responseBody{bufio.NewWriterSize(to, writeSize), compressed}
}

// end sends the rest. Errors mean the client has gone.
func (b responseBody) end() {
	err := b.Flush()
	if b.gzip == nil {
		return
	}
	if err == nil {
		_ = b.gzip.Close()
	}
	compressors.Put(b.gzip)
}

func (h *Handler) writeAll(w http.ResponseWriter, code int, format request.Format, data []byte, acceptsGzip bool) {
	out := h.begin(w, code, format, len(data), acceptsGzip)
	defer out.end()
	_, _ = out.Write(data)
}
