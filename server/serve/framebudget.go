// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"io"
	"sync"

	"github.com/informer-gen/informer-gen/server/watchcache"
)

// frameBudget limits the frames kept by watches whose clients don't read to Config.SlowBytes.
// Watches share frames, and each frame counts once.
type frameBudget struct {
	limit int64 // set once at construction

	mu      sync.Mutex // mu guards what follows
	bytes   int64
	uses    map[*byte]use // by the address of a frame's last byte
	holders map[*holder]struct{}
}

type use struct {
	holders int
	bytes   int64
}

// holder is a watch that keeps frames, the first of them possibly written in part.
type holder struct {
	frames     [][]byte // none is empty
	bytes      int64
	disconnect func() // ends the watch; must not lock
}

// hold counts frames kept by a watch until it calls release. disconnect ends the watch, and must
// not block.
func (h *frameBudget) hold(frames [][]byte, disconnect func()) (release func()) {
	k := &holder{frames: frames, disconnect: disconnect}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.uses == nil {
		h.uses, h.holders = map[*byte]use{}, map[*holder]struct{}{}
	}
	h.holders[k] = struct{}{}
	for _, frame := range frames {
		last, size := &frame[len(frame)-1], int64(len(frame))
		u := h.uses[last]
		if u.holders++; u.holders == 1 {
			u.bytes = size
			h.bytes += size
		}
		h.uses[last] = u
		k.bytes += size
	}
	for h.bytes > h.limit {
		largest := k
		for other := range h.holders {
			if other.bytes > largest.bytes {
				largest = other
			}
		}
		h.releaseLocked(largest)
		largest.disconnect()
	}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.releaseLocked(k)
	}
}

func (h *frameBudget) releaseLocked(k *holder) {
	if _, ok := h.holders[k]; !ok {
		return
	}
	delete(h.holders, k)
	for _, frame := range k.frames {
		last := &frame[len(frame)-1]
		u := h.uses[last]
		if u.holders--; u.holders > 0 {
			h.uses[last] = u
			continue
		}
		delete(h.uses, last)
		h.bytes -= u.bytes
	}
}

func appendFrames(parts [][]byte, events []watchcache.Event) [][]byte {
	for _, e := range events {
		parts = append(parts, e.Frame)
	}
	return parts
}

// dropBytes drops the first n bytes of parts.
func dropBytes(parts [][]byte, n int) [][]byte {
	for len(parts) > 0 && n >= len(parts[0]) {
		n -= len(parts[0])
		parts = parts[1:]
	}
	if n > 0 {
		parts[0] = parts[0][n:]
	}
	return parts
}

// batchBuffers and recordBuffers are buffers that join small parts into one write. A write that
// waits for its client takes one of recordBuffers, which have the size of a TLS record.
var (
	batchBuffers  = sync.Pool{New: func() any { return new(make([]byte, 0, writeSize)) }}
	recordBuffers = sync.Pool{New: func() any { return new(make([]byte, 0, recordSize)) }}
)

const recordSize = 16 << 10

// writeParts writes large parts as they are, and joins small ones in a pooled buffer. It returns
// the number of bytes written.
func writeParts(out io.Writer, parts [][]byte, buffers *sync.Pool) (n int, err error) {
	for len(parts) > 0 && err == nil {
		var written int
		if len(parts) > 1 && len(parts[0])+len(parts[1]) <= recordSize {
			buffer := buffers.Get().(*[]byte)
			data := (*buffer)[:0]
			for len(parts) > 0 && len(data)+len(parts[0]) <= cap(data) {
				data = append(data, parts[0]...)
				parts = parts[1:]
			}
			written, err = out.Write(data)
			buffers.Put(buffer)
		} else {
			written, err = out.Write(parts[0])
			parts = parts[1:]
		}
		n += written
	}
	return n, err
}
