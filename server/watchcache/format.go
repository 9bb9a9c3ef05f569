// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/server/internal/rawjson"
)

// Format encodes events for clients. Each change's frame is kept once for all watchers with equal
// formats, so Formats must be comparable with ==. They must be safe for concurrent use.
type Format interface {
	// AppendEvent appends an event's frame to dst, and returns the extended slice. An error ends
	// the watch.
	AppendEvent(dst []byte, e Event) ([]byte, error)
}

// JSON is the [Format] of JSON objects: one line for each event. APIVersion and Kind are for
// bookmarks.
type JSON struct{ APIVersion, Kind string }

// AppendEvent appends an event as a line of JSON. It fails if APIVersion or Kind is not valid
// UTF-8, or if the event's version differs from the object's and the bytes are not JSON.
func (j JSON) AppendEvent(dst []byte, e Event) ([]byte, error) {
	dst = append(dst, `{"type":"`...)
	dst = append(dst, e.Type...)
	dst = append(dst, `","object":`...)
	switch {
	case e.Object == nil:
		return j.appendBookmark(dst, e)
	case e.Object.Version == e.Version:
		dst = append(dst, e.Object.Bytes...)
	default:
		data, err := rawjson.SetVersion(e.Object.Bytes, e.Version)
		if err != nil {
			return nil, err
		}
		dst = append(dst, data...)
	}
	return append(dst, "}\n"...), nil
}

func (j JSON) appendBookmark(dst []byte, e Event) ([]byte, error) {
	dst, wrongKind := jsontext.AppendQuote(append(dst, `{"kind":`...), j.Kind)
	dst, wrongVersion := jsontext.AppendQuote(append(dst, `,"apiVersion":`...), j.APIVersion)
	dst = append(dst, `,"metadata":{"resourceVersion":"`...)
	dst = strconv.AppendUint(dst, e.Version, 10)
	dst = append(dst, '"')
	if e.InitialEnd {
		dst = append(dst, `,"annotations":{"`+metav1.InitialEventsAnnotationKey+`":"true"}`...)
	}
	return append(dst, "}}}\n"...), errors.Join(wrongKind, wrongVersion)
}

// frames holds the encodings of one change, one for each format and event type, made on first use.
type frames struct {
	first    atomic.Pointer[frame]
	logBytes *atomic.Int64 // bytes of the frames of all changes in the log

	mu      sync.Mutex // mu guards what follows, and is held while a frame is made
	bytes   int64
	dropped bool // the change has left the log, so its frames don't count
}

// frameOverhead is roughly the overhead of an event over its object, or the size of a bookmark.
const frameOverhead = 64

// encoder is a Format in use. Open watchers with equal formats share one, so their frames are found
// by comparing pointers.
type encoder struct {
	Format
	watchers int // guarded by the cache's mu
}

func (c *Cache) encoderLocked(f Format) *encoder {
	if f == nil {
		return nil
	}
	e := c.encoders[f]
	if e == nil {
		e = &encoder{Format: f}
		c.encoders[f] = e
	}
	e.watchers++
	return e
}

func (c *Cache) releaseLocked(e *encoder) {
	if e == nil {
		return
	}
	if e.watchers--; e.watchers == 0 {
		delete(c.encoders, e.Format)
	}
}

func (enc *encoder) encode(e Event) ([]byte, error) {
	size, key := frameOverhead, ""
	if e.Object != nil {
		size, key = size+len(e.Object.Bytes), e.Object.Key
	}
	bytes, err := enc.AppendEvent(make([]byte, 0, size), e)
	if err != nil {
		return nil, fmt.Errorf("encoding %s of %q at version %d: %w", e.Type, key, e.Version, err)
	}
	return bytes, nil
}

type frame struct {
	encoder   *encoder
	eventType watch.EventType
	bytes     []byte
	next      *frame
}

func (f *frames) get(enc *encoder, e Event) ([]byte, error) {
	if found := f.first.Load().find(enc, e.Type); found != nil {
		return found.bytes, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if found := f.first.Load().find(enc, e.Type); found != nil {
		return found.bytes, nil
	}
	bytes, err := enc.encode(e)
	if err != nil {
		return nil, err
	}
	f.first.Store(&frame{enc, e.Type, bytes, f.first.Load()})
	if !f.dropped {
		f.bytes += int64(cap(bytes))
		f.logBytes.Add(int64(cap(bytes)))
	}
	return bytes, nil
}

func (f *frames) drop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.logBytes.Add(-f.bytes)
	f.dropped = true
}

func (f *frame) find(enc *encoder, eventType watch.EventType) *frame {
	for ; f != nil; f = f.next {
		// an unused encoder may have been replaced, but its frames are still good
		if f.eventType == eventType && (f.encoder == enc || f.encoder.Format == enc.Format) {
			return f
		}
	}
	return nil
}
