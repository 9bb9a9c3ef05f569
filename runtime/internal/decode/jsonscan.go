// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"fmt"
	"io"
)

type jsonItems struct {
	format    *jsonFormat
	afterItem bool // an item came before
}

// begin skips the comma and white space before an item. It returns false if data has something else
// there, or ends.
func (j *jsonItems) begin() bool {
	if j.format.inValue {
		return true
	}
	c, ok := j.format.next()
	if !ok || c == ']' || j.afterItem && c != ',' {
		return false
	}
	if j.afterItem {
		j.format.feed.pos++
	}
	j.format.inValue, j.afterItem = true, true
	return true
}

func (j *jsonItems) scan() step {
	if j.begin() {
		return j.format.item()
	}
	c, ok := j.format.next()
	switch {
	case !ok:
		return step{}
	case c == ']':
		j.format.feed.pos++
		return step{result: stepEnd}
	}
	return j.format.failure(j.format.unexpected(c, "after an item, want ',' or ']'"))
}

func (j *jsonItems) broken(err error) step { return j.format.cutItem(err, decoder.item) }

type jsonEvents struct{ format *jsonFormat }

func (j jsonEvents) scan() step {
	switch c, ok := j.format.next(); {
	case !ok:
		return step{}
	case c != '{':
		if got, ok := jsonKind(c); ok {
			return j.format.failure(fmt.Errorf("%w: an event is a JSON object, not a %v", ErrMalformed, got))
		}
		return j.format.failure(j.format.unexpected(c, "instead of an event"))
	}
	return j.format.item()
}

func (j jsonEvents) broken(err error) step {
	if _, ok := j.format.next(); !ok && err == io.EOF {
		return step{result: stepEnd}
	}
	return j.format.cutItem(err, decoder.event)
}
