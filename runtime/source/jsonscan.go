// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"io"
)

// jsonItems scans the items of a list.
type jsonItems struct {
	*jsonWire
	later bool // there was one before
}

// begin passes over what stands before an item. It returns false if there is something else, or
// nothing at hand.
func (j *jsonItems) begin() bool {
	if j.within {
		return true
	}
	c, ok := j.next()
	if !ok || c == ']' || j.later && c != ',' {
		return false
	}
	if j.later {
		j.f.pos++
	}
	j.within, j.later = true, true
	return true
}

func (j *jsonItems) scan() step {
	if j.begin() {
		return j.whole()
	}
	c, ok := j.next()
	switch {
	case !ok:
		return step{}
	case c == ']':
		j.f.pos++
		return step{kind: stepEnd}
	}
	return j.failed(j.unexpected(c, "after an item, want ',' or ']'"))
}

func (j *jsonItems) guess(d decoder, r *reading) bool {
	if !j.begin() {
		return false
	}
	if _, ok := j.next(); !ok || !j.likely() {
		return false
	}
	n := d.(*jsonDecoder).guess(j.f.data(), r, true)
	if n == 0 {
		return false
	}
	j.took(n)
	r.offset = j.f.offset()
	return true
}

func (j *jsonItems) broken(err error) step { return j.cut(err, decoder.item) }

// jsonEvents scans the events of a watch.
type jsonEvents struct{ *jsonWire }

func (j jsonEvents) scan() step {
	switch c, ok := j.next(); {
	case !ok:
		return step{}
	case c != '{':
		if kind, ok := jsonKind(c); ok {
			return j.failed(fmt.Errorf("%w: an event is a JSON object, not a %v", ErrMalformed, kind))
		}
		return j.failed(j.unexpected(c, "in the place of an event"))
	}
	return j.whole()
}

func (j jsonEvents) guess(d decoder, r *reading) bool {
	if _, ok := j.next(); !ok || !j.likely() {
		return false
	}
	at := j.f.offset()
	n, end := d.(*jsonDecoder).guessEvent(j.f.data(), r)
	if n == 0 {
		return false
	}
	j.took(n)
	r.offset = at + int64(end)
	return true
}

func (j jsonEvents) broken(err error) step {
	if _, ok := j.next(); !ok && err == io.EOF {
		return step{kind: stepEnd}
	}
	return j.cut(err, decoder.event)
}
