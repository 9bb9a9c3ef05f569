// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"fmt"
	"io"
)

type jsonItems struct {
	format *jsonFormat
	later  bool // an item came before
}

// begin skips the comma and white space before an item. It returns false if data has something else
// there, or ends.
func (j *jsonItems) begin() bool {
	if j.format.within {
		return true
	}
	c, ok := j.format.next()
	if !ok || c == ']' || j.later && c != ',' {
		return false
	}
	if j.later {
		j.format.f.pos++
	}
	j.format.within, j.later = true, true
	return true
}

func (j *jsonItems) scan() step {
	if j.begin() {
		return j.format.whole()
	}
	c, ok := j.format.next()
	switch {
	case !ok:
		return step{}
	case c == ']':
		j.format.f.pos++
		return step{result: stepEnd}
	}
	return j.format.failed(j.format.unexpected(c, "after an item, want ',' or ']'"))
}

func (j *jsonItems) broken(err error) step { return j.format.cut(err, decoder.item) }

type jsonEvents struct{ format *jsonFormat }

func (j jsonEvents) scan() step {
	switch c, ok := j.format.next(); {
	case !ok:
		return step{}
	case c != '{':
		if got, ok := jsonKind(c); ok {
			return j.format.failed(fmt.Errorf("%w: an event is a JSON object, not a %v", ErrMalformed, got))
		}
		return j.format.failed(j.format.unexpected(c, "in the place of an event"))
	}
	return j.format.whole()
}

func (j jsonEvents) broken(err error) step {
	if _, ok := j.format.next(); !ok && err == io.EOF {
		return step{result: stepEnd}
	}
	return j.format.cut(err, decoder.event)
}
