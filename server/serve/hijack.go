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

// hijackedWatch is a watch on a connection taken over from net/http. Its one goroutine waits for
// the client to go:
//
//	a worker of the cache ─▶ receive ─▶ conn, as far as it takes bytes at once
//	                            └─▶ a goroutine writes the rest, then receive is called again
//	run ─▶ reads conn until its end
type hijackedWatch struct {
	// set before the watch can end
	h        *Handler
	leave    func() // gives its place back
	encoding encoding
	watcher  *watchcache.Watcher
	conn     net.Conn
	raw      syscall.RawConn // of conn; nil if it can't write without blocking
	stop     func()          // stops the reviews

	runner  sync.WaitGroup // the goroutine of run, which waits for writers
	writers sync.WaitGroup

	socket       atomic.Pointer[net.Conn] // conn, for disconnect
	disconnected atomic.Bool

	mu           sync.Mutex // mu guards what follows
	hijacked     bool       // conn is set
	writing      bool       // a goroutine is writing, so receive must not
	done         bool       // nothing more is written
	aborted      bool       // abort has set conn's last deadline
	earlyParts   [][]byte   // parts of a chunk received before the connection was taken over
	releaseEarly func()     // releases earlyParts; nil if there are none
	ending       []byte     // end of the answer; nil while the watch goes on
}

// canHijack reports whether a request's connection can be taken over. An HTTP/2 connection can't,
// since it has other requests.
func canHijack(w http.ResponseWriter, req *http.Request) bool {
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

// hijack takes over the connection, whose answer has begun, and starts run. The watch ends when the
// client goes, or when a review denies the request. Events already received are written first.
func (t *hijackedWatch) hijack(w http.ResponseWriter, reviews *reviews, watcher *watchcache.Watcher) error {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		watcher.Close()
		return fmt.Errorf("taking over the connection of a watch: %w", err)
	}
	t.watcher, t.conn, t.raw = watcher, conn, rawConn(conn)
	t.stop = reviews.stop
	reviews.setEnd(t.Close)
	t.runner.Add(1)
	t.h.watches.add(t)
	go t.run()

	t.mu.Lock()
	defer t.mu.Unlock()
	t.hijacked = true
	early := t.earlyParts
	t.earlyParts = nil
	if t.socket.Store(&conn); t.disconnected.Load() {
		closeNow(conn) // run cleans up
	}
	switch {
	case t.done:
	case len(early) > 0: // writeRest writes t.ending afterwards
		t.startLocked(func() { t.writeRest(early) })
	case t.ending != nil:
		t.startLocked(t.writeEnding)
	}
	return nil
}

// dropEarly drops the early events. If the connection wasn't taken over, the watch is done.
func (t *hijackedWatch) dropEarly() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.earlyParts, t.done = nil, t.done || !t.hijacked
	if t.releaseEarly != nil {
		t.releaseEarly()
	}
}

// disconnect ends the watch at once, because it keeps too much unread data.
func (t *hijackedWatch) disconnect() {
	t.disconnected.Store(true)
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

func (t *hijackedWatch) run() {
	defer t.runner.Done()
	defer t.leave()
	defer t.h.watches.remove(t)
	t.read()
	t.mu.Lock()
	t.done = true
	t.mu.Unlock()
	t.watcher.Close()
	_ = t.conn.Close() // it has ended
	t.stop()
	t.writers.Wait()
}

func (t *hijackedWatch) read() {
	for buffer := make([]byte, 16); ; {
		if _, err := t.conn.Read(buffer); err != nil {
			return
		}
	}
}

func (t *hijackedWatch) receive(events []watchcache.Event, err error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err != nil:
		t.endLocked(lastEvent(err, t.encoding))
		return false
	case t.done || t.ending != nil:
		return false
	case !t.hijacked: // happens once: it isn't called again before hijack
		t.earlyParts = chunkOf(events)
		t.releaseEarly = t.h.frames.hold(t.earlyParts, t.disconnect)
		return false
	}
	parts := chunkOf(events)
	rest := dropBytes(parts, tryParts(t.raw, parts))
	if len(rest) == 0 {
		return true
	}
	t.startLocked(func() { t.writeRest(rest) })
	return false
}

// startLocked starts a writing goroutine; until it is done, receive doesn't write.
func (t *hijackedWatch) startLocked(write func()) {
	t.writing = true
	t.writers.Go(write)
}

// writeRest writes the parts the connection hasn't taken at once, then lets the watch go on.
func (t *hijackedWatch) writeRest(parts [][]byte) {
	release := t.h.frames.hold(parts, t.disconnect)
	err := t.write(parts)
	release()
	t.mu.Lock()
	t.writing = false
	ending := t.ending
	t.mu.Unlock()
	switch {
	case err != nil:
		_ = t.conn.Close() // run cleans up
	case ending != nil:
		t.writeEnding()
	default:
		t.watcher.Ready()
	}
}

func (t *hijackedWatch) writeEnding() {
	t.mu.Lock()
	ending := t.ending
	t.mu.Unlock()
	_ = t.write([][]byte{ending}) // the connection is closed in any case
	_ = t.conn.Close()
}

func (t *hijackedWatch) write(parts [][]byte) error {
	t.setDeadline(time.Now().Add(t.h.config.WriteTimeout))
	_, err := writeParts(t.conn, parts, &recordBuffers)
	t.setDeadline(time.Time{})
	if err != nil {
		closeNow(t.conn)
	}
	return err
}

func (t *hijackedWatch) setDeadline(at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.aborted {
		_ = t.conn.SetWriteDeadline(at) // if it fails, so does Write
	}
}

// endLocked ends the answer with an event, which may be nil.
func (t *hijackedWatch) endLocked(event []byte) {
	if t.ending != nil || t.done {
		return
	}
	t.ending = append(appendChunk(nil, event), "0\r\n\r\n"...)
	if t.hijacked && !t.writing {
		t.startLocked(t.writeEnding)
	}
}

// Finish ends the watch soon: see [watchcache.Watcher.Finish].
func (t *hijackedWatch) Finish() { t.watcher.Finish() }

// Close ends the watch.
func (t *hijackedWatch) Close() {
	t.watcher.Close()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.endLocked(nil)
}

// abortTimeout is how long the client of an aborted watch may take to read the rest.
const abortTimeout = time.Second

// abort is Close with little time for the rest.
func (t *hijackedWatch) abort() {
	t.mu.Lock()
	if !t.aborted {
		t.aborted = true
		_ = t.conn.SetWriteDeadline(time.Now().Add(abortTimeout)) // if it fails, so does Write
	}
	t.mu.Unlock()
	t.Close()
}

func (t *hijackedWatch) wait() { t.runner.Wait() }

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
	n, _ := writeParts(tryWriter{raw}, parts, &batchBuffers) // the next write returns its error
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
