// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

var errDone = errors.New("the client has gone")

// body is the body of a response. It has no goroutine: Read waits for events itself.
type body struct {
	// set once at construction
	ctx    context.Context // of the request
	answer *Answer
	zip    *gzip.Writer // nil without compression; writes to zipped

	// used by the reading goroutine; one at a time
	content []byte // the whole body, except of a watch
	pending []byte // encoded, not sent yet
	zipped  bytes.Buffer
	sent    int
	// Read's error after pending is sent; nil while more may come
	ended error

	closing sync.Once
	closed  chan struct{}
}

// newBody encodes an answer, except for the events of a watch.
func newBody(ctx context.Context, a *Answer) *body {
	b := &body{ctx: ctx, answer: a, closed: make(chan struct{})}
	a.code = a.Code
	if a.code == 0 {
		switch {
		case a.Status != nil:
			a.code = int(a.Status.Code)
		case a.created:
			a.code = http.StatusCreated
		default:
			a.code = http.StatusOK
		}
	}
	if a.Err != nil {
		return b
	}
	var err error
	switch {
	case a.Body != nil:
		b.content = a.Body
	case a.Status != nil:
		if d := a.Status.Details; d != nil && d.RetryAfterSeconds > 0 && a.Header.Get("Retry-After") == "" {
			a.Header.Set("Retry-After", strconv.Itoa(int(d.RetryAfterSeconds)))
		}
		b.content, err = a.encoding.object(a.Status)
	case a.Page != nil:
		b.content, err = a.encoding.page(a.Page)
	case a.Object != nil:
		b.content, err = a.encoding.object(a.Object)
	}
	if err != nil {
		panic(fmt.Sprintf("sourcetest: encoding the answer to %v: %v", a.Request, err))
	}
	if b.content != nil || a.stream == nil {
		if a.stream != nil {
			a.stream.stop()
			a.stream = nil
		}
		if a.Wire != nil {
			b.content = a.Wire(b.content)
		}
	}
	if a.Gzip {
		a.Header.Set("Content-Encoding", "gzip")
		b.zip = gzip.NewWriter(&b.zipped)
		if a.stream == nil {
			_, _ = b.zip.Write(b.content)
			_ = b.zip.Close()
			b.content, b.zip = b.zipped.Bytes(), nil
		}
	}
	if a.Cut < 0 {
		a.Cut = max(len(b.content)+a.Cut, 1)
	}
	return b
}

// begin waits until the answer begins, or returns an error if the connection fails first.
func (b *body) begin() error {
	if b.answer.Delay > 0 {
		timer := time.NewTimer(b.answer.Delay)
		defer timer.Stop()
		if err := b.wait(timer.C); err != nil {
			_ = b.Close()
			return err
		}
	}
	if err := b.ctx.Err(); err != nil {
		_ = b.Close()
		return err
	}
	if b.answer.Err == nil {
		return nil
	}
	err := b.answer.Err
	if errors.Is(err, ErrHang) {
		err = b.wait(nil)
	}
	_ = b.Close()
	return err
}

func (b *body) wait(tick <-chan time.Time) error {
	select {
	case <-tick:
		return nil
	case <-b.ctx.Done():
		return b.ctx.Err()
	case <-b.closed:
		return http.ErrBodyReadAfterClose
	}
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	select {
	case <-b.closed:
		return 0, http.ErrBodyReadAfterClose
	case <-b.ctx.Done():
		return 0, b.ctx.Err()
	default:
	}
	if len(p) == 0 {
		return 0, nil
	}
	a := b.answer
	if a.Cut > 0 && b.sent >= a.Cut {
		return 0, b.cut()
	}
	for len(b.pending) == 0 {
		if b.ended != nil {
			return 0, b.ended
		}
		b.fill()
	}
	n := min(len(p), len(b.pending))
	if a.Cut > 0 {
		n = min(n, a.Cut-b.sent)
	}
	if a.Chunk > 0 {
		n = min(n, a.Chunk)
		timer := time.NewTimer(a.Pause)
		defer timer.Stop()
		if err := b.wait(timer.C); err != nil {
			return 0, err
		}
	}
	copy(p, b.pending[:n])
	b.pending = b.pending[n:]
	b.sent += n
	return n, nil
}

func (b *body) cut() error {
	switch err := b.answer.CutErr; {
	case err == nil:
		return io.EOF
	case errors.Is(err, ErrHang):
		return b.wait(nil)
	default:
		return err
	}
}

// fill encodes the next part of the body, or sets ended.
func (b *body) fill() {
	a := b.answer
	if a.stream == nil {
		b.pending, b.content, b.ended = b.content, nil, io.EOF
		return
	}
	event, err := a.stream.next(b.ctx.Done(), b.closed)
	switch {
	case err == errDone:
		if b.ended = b.ctx.Err(); b.ended == nil {
			b.ended = http.ErrBodyReadAfterClose
		}
		return
	case err != nil:
		b.ended = err
		if b.zip != nil {
			_ = b.zip.Close()
			b.pending = bytes.Clone(b.zipped.Bytes())
		}
		return
	}
	events := []Event{event}
	if a.Events != nil {
		events = a.Events(event)
	}
	for _, e := range events {
		raw, err := a.encoding.event(e)
		if err != nil {
			panic(fmt.Sprintf("sourcetest: encoding a %s event of %v: %v", e.Type, a.Request, err))
		}
		if a.Wire != nil {
			raw = a.Wire(raw)
		}
		b.pending = append(b.pending, raw...)
	}
	if b.zip != nil {
		_, _ = b.zip.Write(b.pending)
		_ = b.zip.Flush()
		b.pending = bytes.Clone(b.zipped.Bytes())
		b.zipped.Reset()
	}
}

// Close implements io.Closer. It ends a waiting Read.
func (b *body) Close() error {
	b.closing.Do(func() {
		close(b.closed)
		if b.answer.stream != nil {
			b.answer.stream.stop()
		}
	})
	return nil
}
