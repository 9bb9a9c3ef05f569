// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/informer-gen/informer-gen/runtime/watchcache"
)

// takenWatch is a watch whose connection was taken over from net/http, which needs 25 KB for each,
// and most of it only for requests that come later. It has one goroutine, which waits for the
// client to go:
//
//	a worker of the cache ─▶ receive ─▶ conn, as far as it takes bytes at once
//	                            └─▶ a goroutine writes the rest, then receive is called again
//	run ─▶ reads conn until its end
//
// Events are in the chunks of HTTP/1.1. As many as the watch has by then are written at once.
type takenWatch struct {
	// set before the watch may end
	h        *Handler
	encoding encoding
	watcher  *watchcache.Watcher
	conn     net.Conn
	raw      syscall.RawConn // of conn; nil if it doesn't take bytes without waiting
	stop     func()          // the reviews

	ended   sync.WaitGroup // run, and with it writers
	writers sync.WaitGroup

	mu      sync.Mutex // mu guards what follows
	running bool       // conn is there
	writing bool       // a goroutine writes, and receive must not
	over    bool       // nothing more is written
	aborted bool       // conn has the last deadline
	early   []byte     // frames that came before running
	last    []byte     // what ends the answer; nil while the watch goes on
}

// canTake reports whether the connection of a request can be taken over. One of HTTP/2 can't, since
// it has other requests.
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

// take takes over the connection, whose answer has begun, and starts what serves it. The watch ends
// when the client goes, or when a review denies the request. What receive was called with so far
// comes first.
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
	switch {
	case t.over:
	case t.last != nil:
		t.last = append(appendChunk(nil, t.early), t.last...)
		t.startLocked(t.writeLast)
	case len(t.early) > 0:
		data := appendChunk(nil, t.early)
		t.startLocked(func() { t.writeRest(data) })
	}
	t.early = nil
	return nil
}

// run waits until the connection ends, and cleans up.
func (t *takenWatch) run() {
	defer t.ended.Done()
	defer t.h.watches.leave()
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

// read reads until the connection ends. A client has nothing to say after its request.
func (t *takenWatch) read() {
	for buffer := make([]byte, 16); ; {
		if _, err := t.conn.Read(buffer); err != nil {
			return
		}
	}
}

// receive sends what the watch gets. It is its Receive function.
func (t *takenWatch) receive(events []watchcache.Event, err error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err != nil:
		t.endLocked(lastEvent(err, t.encoding))
		return false
	case !t.running:
		t.early = appendFrames(t.early, events)
		return false
	case t.over || t.last != nil:
		return false
	}
	buffer := batches.Get().(*[]byte)
	*buffer = appendEvents((*buffer)[:0], events)
	n := tryWrite(t.raw, *buffer)
	if n == len(*buffer) {
		batches.Put(buffer)
		return true
	}
	t.startLocked(func() {
		t.writeRest((*buffer)[n:])
		batches.Put(buffer)
	})
	return false
}

// startLocked starts a goroutine that writes, while receive doesn't.
func (t *takenWatch) startLocked(write func()) {
	t.writing = true
	t.writers.Go(write)
}

// writeRest writes what the connection has not taken at once, and lets the watch go on.
func (t *takenWatch) writeRest(data []byte) {
	err := t.write(data)
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

// writeLast ends the answer and the connection.
func (t *takenWatch) writeLast() {
	t.mu.Lock()
	last := t.last
	t.mu.Unlock()
	_ = t.write(last) // the connection is closed in any case
	_ = t.conn.Close()
}

// write writes data in time.
func (t *takenWatch) write(data []byte) error {
	t.setDeadline(time.Now().Add(t.h.config.WriteTimeout))
	_, err := t.conn.Write(data)
	t.setDeadline(time.Time{})
	if encrypted, ok := t.conn.(interface{ NetConn() net.Conn }); ok && err != nil {
		_ = encrypted.NetConn().Close() // else Close tries to write for another five seconds
	}
	return err
}

func (t *takenWatch) setDeadline(at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.aborted {
		_ = t.conn.SetWriteDeadline(at) // else Write fails
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

// Finish ends the watch soon, as [watchcache.Watcher.Finish] does.
func (t *takenWatch) Finish() { t.watcher.Finish() }

// Close ends the watch.
func (t *takenWatch) Close() {
	t.watcher.Close()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.endLocked(nil)
}

// lastWrite is how long the client of a watch that is aborted may take to read what is left.
const lastWrite = time.Second

// abort is Close, with little time to write what is left.
func (t *takenWatch) abort() {
	t.mu.Lock()
	if !t.aborted {
		t.aborted = true
		_ = t.conn.SetWriteDeadline(time.Now().Add(lastWrite)) // else Write fails
	}
	t.mu.Unlock()
	t.Close()
}

// wait waits until the goroutines of the watch have ended.
func (t *takenWatch) wait() { t.ended.Wait() }

// appendEvents appends events as one chunk.
func appendEvents(dst []byte, events []watchcache.Event) []byte {
	size := 0
	for _, e := range events {
		size += len(e.Frame)
	}
	dst = appendFrames(appendSize(dst, size), events)
	return append(dst, "\r\n"...)
}

// appendChunk appends data as a chunk, unless there is none: an empty chunk is the last one.
func appendChunk(dst, data []byte) []byte {
	if len(data) == 0 {
		return dst
	}
	return append(append(appendSize(dst, len(data)), data...), "\r\n"...)
}

func appendSize(dst []byte, size int) []byte {
	return append(strconv.AppendInt(dst, int64(size), 16), "\r\n"...)
}
