// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/informer-gen/informer-gen/server/watchcache"
)

// takenWatch is a watch on a connection taken over from net/http. Its one goroutine waits for the
// client to go:
//
//	a worker of the cache ─▶ receive ─▶ conn, as far as it takes bytes at once
//	                            └─▶ a goroutine writes the rest, then receive is called again
//	run ─▶ reads conn until its end
type takenWatch struct {
	// set before the watch can end
	h        *Handler
	leave    func() // gives its place back
	encoding encoding
	watcher  *watchcache.Watcher
	conn     net.Conn
	raw      syscall.RawConn // of conn; nil if it can't write without blocking
	stop     func()          // the reviews

	ended   sync.WaitGroup // run, which waits for writers
	writers sync.WaitGroup

	socket atomic.Pointer[net.Conn] // conn, for cut
	isCut  atomic.Bool

	mu      sync.Mutex // mu guards what follows
	running bool       // conn is there
	writing bool       // a goroutine is writing, so receive must not
	over    bool       // nothing more is written
	aborted bool       // abort has set conn's last deadline
	early   [][]byte   // parts of a chunk received before running
	release func()     // of early; nil if there is none
	last    []byte     // end of the answer; nil while the watch goes on
}

// canTake reports whether a request's connection can be taken over. An HTTP/2 connection can't,
// since it has other requests.
func canTake(w http.ResponseWriter, req *http.Request) bool {
	if req.ProtoMajor != 1 || req.ProtoMinor < 1 || req.Method == http.MethodHead {
		return false
	}
	for {
		switch inner := w.(type) {
		case http.Hijacker:
			return true
		case interface{ Unwrap() http.ResponseWriter }:
			w = inner.Unwrap()
		default:
			return false
		}
	}
}

// take takes over the connection, whose answer has begun, and starts run. The watch ends when the
// client goes, or when a review denies the request. Events already received are written first.
func (t *takenWatch) take(w http.ResponseWriter, reviews *reviews, watcher *watchcache.Watcher) error {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		watcher.Close()
		return fmt.Errorf("taking over the connection of a watch: %w", err)
	}
	t.watcher, t.conn, t.raw = watcher, conn, rawConn(conn)
	t.stop = reviews.stop
	reviews.endBy(t.Close)
	t.ended.Add(1)
	t.h.watches.add(t)
	go t.run()

	t.mu.Lock()
	defer t.mu.Unlock()
	t.running = true
	early := t.early
	t.early = nil
	if t.socket.Store(&conn); t.isCut.Load() {
		closeNow(conn) // run cleans up
	}
	switch {
	case t.over:
	case len(early) > 0: // t.last follows
		t.startLocked(func() { t.writeRest(early) })
	case t.last != nil:
		t.startLocked(t.writeLast)
	}
	return nil
}

// forget drops the early events. If the connection wasn't taken over, the watch is over.
func (t *takenWatch) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.early, t.over = nil, t.over || !t.running
	if t.release != nil {
		t.release()
	}
}

// cut ends the watch at once, because it keeps too much data its client doesn't read.
func (t *takenWatch) cut() {
	t.isCut.Store(true)
	if conn := t.socket.Load(); conn != nil {
		closeNow(*conn) // run cleans up
	}
}

// closeNow closes a connection. Close of a TLS connection would try to write for five seconds.
func closeNow(conn net.Conn) {
	if encrypted, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = encrypted.NetConn()
	}
	_ = conn.Close() // it has ended
}

func (t *takenWatch) run() {
	defer t.ended.Done()
	defer t.leave()
	defer t.h.watches.remove(t)
	t.read()
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
	t.watcher.Close()
	_ = t.conn.Close() // it has ended
	t.stop()
	t.writers.Wait()
}

func (t *takenWatch) read() {
	for buffer := make([]byte, 16); ; {
		if _, err := t.conn.Read(buffer); err != nil {
			return
		}
	}
}

func (t *takenWatch) receive(events []watchcache.Event, err error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err != nil:
		t.endLocked(lastEvent(err, t.encoding))
		return false
	case t.over || t.last != nil:
		return false
	case !t.running: // happens once: it isn't called again before take
		t.early = chunkOf(events)
		t.release = t.h.held.hold(t.early, t.cut)
		return false
	}
	parts := chunkOf(events)
	rest := after(parts, tryParts(t.raw, parts))
	if len(rest) == 0 {
		return true
	}
	t.startLocked(func() { t.writeRest(rest) })
	return false
}

// startLocked starts a writing goroutine; until it is done, receive doesn't write.
func (t *takenWatch) startLocked(write func()) {
	t.writing = true
	t.writers.Go(write)
}

// writeRest writes the parts the connection hasn't taken at once, then lets the watch go on.
func (t *takenWatch) writeRest(parts [][]byte) {
	release := t.h.held.hold(parts, t.cut)
	err := t.write(parts)
	release()
	t.mu.Lock()
	t.writing = false
	last := t.last
	t.mu.Unlock()
	switch {
	case err != nil:
		_ = t.conn.Close() // run cleans up
	case last != nil:
		t.writeLast()
	default:
		t.watcher.Ready()
	}
}

func (t *takenWatch) writeLast() {
	t.mu.Lock()
	last := t.last
	t.mu.Unlock()
	_ = t.write([][]byte{last}) // the connection is closed in any case
	_ = t.conn.Close()
}

func (t *takenWatch) write(parts [][]byte) error {
	t.setDeadline(time.Now().Add(t.h.config.WriteTimeout))
	_, err := writeParts(t.conn, parts, &records)
	t.setDeadline(time.Time{})
	if err != nil {
		closeNow(t.conn)
	}
	return err
}

func (t *takenWatch) setDeadline(at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.aborted {
		_ = t.conn.SetWriteDeadline(at) // if it fails, so does Write
	}
}

// endLocked ends the answer with an event, which may be nil.
func (t *takenWatch) endLocked(event []byte) {
	if t.last != nil || t.over {
		return
	}
	t.last = append(appendChunk(nil, event), "0\r\n\r\n"...)
	if t.running && !t.writing {
		t.startLocked(t.writeLast)
	}
}

// Finish ends the watch soon: see [watchcache.Watcher.Finish].
func (t *takenWatch) Finish() { t.watcher.Finish() }

// Close ends the watch.
func (t *takenWatch) Close() {
	t.watcher.Close()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.endLocked(nil)
}

// lastWrite is how long the client of an aborted watch may take to read the rest.
const lastWrite = time.Second

// abort is Close with little time for the rest.
func (t *takenWatch) abort() {
	t.mu.Lock()
	if !t.aborted {
		t.aborted = true
		_ = t.conn.SetWriteDeadline(time.Now().Add(lastWrite)) // if it fails, so does Write
	}
	t.mu.Unlock()
	t.Close()
}

func (t *takenWatch) wait() { t.ended.Wait() }

func chunkOf(events []watchcache.Event) [][]byte {
	size := 0
	for _, e := range events {
		size += len(e.Frame)
	}
	parts := make([][]byte, 1, len(events)+2)
	parts[0] = appendSize(nil, size)
	return append(appendFrames(parts, events), []byte("\r\n"))
}

// tryParts writes as many bytes of parts as the connection takes without blocking, and returns
// their number.
func tryParts(raw syscall.RawConn, parts [][]byte) int {
	if raw == nil {
		return 0
	}
	n, _ := writeParts(tryWriter{raw}, parts, &batches) // an error shows again in the next write
	return n
}

type tryWriter struct{ raw syscall.RawConn }

func (w tryWriter) Write(p []byte) (n int, err error) {
	if n = tryWrite(w.raw, p); n < len(p) {
		err = io.ErrShortWrite
	}
	return n, err
}

// appendChunk appends data as a chunk, unless it is empty: an empty chunk is the last one.
func appendChunk(dst, data []byte) []byte {
	if len(data) == 0 {
		return dst
	}
	return append(append(appendSize(dst, len(data)), data...), "\r\n"...)
}

func appendSize(dst []byte, size int) []byte {
	return append(strconv.AppendInt(dst, int64(size), 16), "\r\n"...)
}
