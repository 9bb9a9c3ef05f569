// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/informer-gen/informer-gen/runtime/internal/jsondec"
)

// jsonFormat reads {"kind", "apiVersion", "metadata", "items", …} and {"type", "object"} …, with
// members in any order and each at most once.
type jsonFormat struct {
	stream *Stream
	feed   *feed

	frame   jsondec.Frame // state of the value at the start of data
	inValue bool          // data begins within a value, not between two values
}

func newJSONFormat(s *Stream) formatReader { return &jsonFormat{stream: s, feed: s.feed} }

func (j *jsonFormat) list(l *listReader) error {
	c, err := j.peek()
	if err != nil {
		return unexpectedEOF(err)
	}
	if c != '{' {
		return j.wrongType(c, "the response", '{')
	}
	j.feed.pos++
	seen := map[string]bool{}
	for first := true; ; first = false {
		name, err := j.member(first)
		if err != nil {
			return err
		}
		if name == nil {
			break
		}
		if err := j.listMember(l, *name, seen); err != nil {
			return err
		}
	}
	if c, err := j.peek(); err == nil {
		if got, ok := jsonKind(c); ok {
			return fmt.Errorf("%w: a JSON %v after the end of the list", ErrMalformed, got)
		}
		return j.unexpected(c, "after the end of the list")
	} else if err != io.EOF {
		return err
	}
	return nil
}

func (j *jsonFormat) listMember(l *listReader, name string, seen map[string]bool) (err error) {
	switch name {
	case "kind", "apiVersion", "metadata", "items":
		if seen[name] {
			return errTwoMembers(name)
		}
		seen[name] = true
	}
	switch name {
	case "kind":
		l.kind, err = j.text("the list's kind")
	case "apiVersion":
		l.apiVersion, err = j.text("the list's apiVersion")
	case "metadata":
		var raw []byte
		if raw, err = j.value(); err == nil {
			err = json.Unmarshal(raw, &l.meta, typedOptions)
		}
	case "items":
		err = j.items(l)
	default:
		var raw []byte
		if raw, err = j.value(); err == nil {
			err = checkJSON(raw)
		}
	}
	return err
}

func errTwoMembers(name string) error {
	return fmt.Errorf("%w: the list has two members %q", ErrMalformed, name)
}

func (j *jsonFormat) items(l *listReader) error {
	c, err := j.peek()
	if err != nil {
		return unexpectedEOF(err)
	}
	switch c {
	case 'n':
		l.hasItems = true
		raw, err := j.value()
		if err == nil {
			err = checkJSON(raw)
		}
		return err
	case '[':
		j.feed.pos++
		if err := l.begin(); err != nil {
			return err
		}
		return l.stream.run(&jsonItems{format: j}, decoder.item, l.take)
	}
	return j.wrongType(c, "the list's items", '[')
}

// member reads the name of the list's next member, with its comma and colon. It returns nil at the
// end of the list.
func (j *jsonFormat) member(first bool) (*string, error) {
	c, err := j.peek()
	if err != nil {
		return nil, unexpectedEOF(err)
	}
	switch {
	case c == '}':
		j.feed.pos++
		return nil, nil
	case !first && c != ',':
		return nil, j.unexpected(c, "after a member of the list, want ',' or '}'")
	case !first:
		j.feed.pos++
		if c, err = j.peek(); err != nil {
			return nil, unexpectedEOF(err)
		}
	}
	if c != '"' {
		return nil, j.unexpected(c, "instead of a name")
	}
	raw, err := j.value()
	if err != nil {
		return nil, err
	}
	var name string
	if err := json.Unmarshal(raw, &name, typedOptions); err != nil {
		return nil, err
	}
	if c, err = j.peek(); err != nil {
		return nil, unexpectedEOF(err)
	}
	if c != ':' {
		return nil, j.unexpected(c, "after a name, want ':'")
	}
	j.feed.pos++
	return &name, nil
}

// peek returns the next byte that is not white space. Data then begins with it.
func (j *jsonFormat) peek() (byte, error) {
	for {
		if c, ok := j.next(); ok {
			return c, nil
		}
		if err := j.feed.more(); err != nil {
			return 0, err
		}
	}
}

func (j *jsonFormat) next() (byte, bool) {
	f := j.feed
	for ; f.pos < f.end; f.pos++ {
		switch c := f.buf[f.pos]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c, true
		}
	}
	return 0, false
}

// value reads a value, without checking its syntax.
func (j *jsonFormat) value() ([]byte, error) {
	if _, err := j.peek(); err != nil {
		return nil, unexpectedEOF(err)
	}
	var frame jsondec.Frame
	for {
		data := j.feed.data()
		if n, ok := frame.End(data); ok {
			j.feed.pos += n
			return data[:n], nil
		}
		if err := j.feed.more(); err != nil {
			return nil, cutOffError(checkJSON(j.feed.data()), err)
		}
	}
}

// text reads a string, or null as "".
func (j *jsonFormat) text(what string) (string, error) {
	raw, err := j.value()
	if err != nil {
		return "", err
	}
	var text string
	if raw = raw[:len(raw):len(raw)]; len(raw) > 0 && (raw[0] == '"' || raw[0] == 'n') {
		return text, json.Unmarshal(raw, &text, typedOptions)
	}
	if err := checkJSON(raw); err != nil {
		return "", err
	}
	return "", fmt.Errorf("%w: %s is a JSON %v, want %v", ErrMalformed, what, jsontext.Value(raw).Kind(), jsontext.KindString)
}

func (j *jsonFormat) wrongType(c byte, what string, want jsontext.Kind) error {
	got, ok := jsonKind(c)
	if !ok {
		return j.unexpected(c, "at the beginning of a value")
	}
	return fmt.Errorf("%w: %s is a JSON %v, want %v", ErrMalformed, what, got, want)
}

func (j *jsonFormat) unexpected(c byte, where string) error {
	return &jsontext.SyntacticError{ByteOffset: j.feed.offset(), Err: fmt.Errorf("invalid character %q %s", c, where)}
}

func jsonKind(c byte) (jsontext.Kind, bool) {
	switch {
	case c == '-' || '0' <= c && c <= '9':
		return jsontext.KindNumber, true
	case c == '{', c == '[', c == '"', c == 't', c == 'f', c == 'n':
		return jsontext.Kind(c), true
	}
	return jsontext.KindInvalid, false
}

// cutOffError returns the error of a value cut off by the error cut, where decoding its beginning
// returned err.
func cutOffError(err, cut error) error {
	if err == nil || isUnexpectedEOF(err) {
		return unexpectedEOF(cut)
	}
	return err
}

func (j *jsonFormat) events() scanner { return jsonEvents{j} }

func (j *jsonFormat) item() step {
	if _, ok := j.next(); !ok {
		return step{}
	}
	n, ok := j.frame.End(j.feed.data())
	if !ok {
		return step{}
	}
	n = max(n, 1) // no value begins with this byte; the decoder returns the error
	st := step{result: stepItem, start: j.feed.pos, end: j.feed.pos + n}
	j.advance(n)
	return st
}

func (j *jsonFormat) advance(n int) {
	j.feed.pos += n
	j.feed.itemEnded(n)
	j.frame, j.inValue = jsondec.Frame{}, false
}

func (j *jsonFormat) failure(err error) step {
	return step{result: stepFailed, inItem: true, err: err, offset: j.feed.offset()}
}

func (j *jsonFormat) cutItem(err error, decode func(decoder, []byte, *Item)) step {
	f := j.feed
	if _, ok := j.next(); !ok {
		return j.failure(unexpectedEOF(err))
	}
	var r Item
	decodeAt(&jsonDecoder{codec: j.stream.codec}, decode, f.data(), f.offset(), &r)
	return step{result: stepFailed, inItem: true, err: cutOffError(r.err, err), key: r.id.key, offset: r.offset}
}

func (j *jsonFormat) decoder() decoder {
	d := j.stream.codec.pools.json.pool(j.stream.readOnly).get()
	if d == nil {
		d = &jsonDecoder{codec: j.stream.codec, readOnly: j.stream.readOnly}
	}
	d.known, d.selection = j.stream.known, j.stream.selection
	return d
}

func (j *jsonFormat) release(d decoder) {
	json := d.(*jsonDecoder)
	json.known, json.selection = nil, nil
	j.stream.codec.pools.json.pool(j.stream.readOnly).put(json)
}
