// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	sigsjson "sigs.k8s.io/json"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// jsonWire reads {"kind", "apiVersion", "metadata", "items", …} and {"type", "object"} …, with members in any order and each
// at most once.
type jsonWire struct {
	c       *codec
	dec     *jsontext.Decoder
	raw     jsontext.Value // the value at hand, if it is no longer in the stream
	slim    *slimObject    // nil, unless objects are decoded through one
	content *contentReader // nil, unless objects are untyped
}

func newJSONWire(c *codec, r io.Reader) *jsonWire {
	j := &jsonWire{c: c, dec: jsontext.NewDecoder(r, typedOptions)}
	switch {
	case c.untyped:
		j.content = &contentReader{dec: j.dec, drop: &c.drop, names: map[string]string{}}
	case c.slim != nil:
		j.slim = c.slim.new(&c.drop)
	}
	return j
}

func (j *jsonWire) offset() int64 { return j.dec.InputOffset() }

func (j *jsonWire) list(l *listReader) error {
	if _, err := j.token('{', "the response"); err != nil {
		return err
	}
	seen := map[string]bool{}
	for j.dec.PeekKind() != '}' {
		tok, err := j.dec.ReadToken()
		if err != nil {
			return err
		}
		name := tok.String()
		switch name {
		case "kind":
			l.kind, err = j.text("the list's kind")
		case "apiVersion":
			l.apiVersion, err = j.text("the list's apiVersion")
		case "metadata":
			err = json.UnmarshalDecode(j.dec, &l.meta)
		case "items":
			err = j.items(l)
		default:
			if err := j.dec.SkipValue(); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		if seen[name] {
			return errTwoMembers(name)
		}
		seen[name] = true
	}
	if _, err := j.dec.ReadToken(); err != nil {
		return err
	}
	if tok, err := j.dec.ReadToken(); err == nil {
		return fmt.Errorf("%w: a JSON %v after the end of the list", ErrMalformed, tok.Kind())
	} else if err != io.EOF {
		return err
	}
	return nil
}

func errTwoMembers(name string) error {
	return fmt.Errorf("%w: the list has two of %q", ErrMalformed, name)
}

func (j *jsonWire) items(l *listReader) error {
	if j.dec.PeekKind() == 'n' {
		l.items = true
		_, err := j.dec.ReadToken()
		return err
	}
	if _, err := j.token('[', "the list's items"); err != nil {
		return err
	}
	if err := l.begin(); err != nil {
		return err
	}
	for j.dec.PeekKind() != ']' {
		if err := l.next(j); err != nil {
			return err
		}
	}
	_, err := j.dec.ReadToken()
	return err
}

func (j *jsonWire) event(w *watchReader) (event Event[object.Object], key object.Key, err error) {
	tok, err := j.dec.ReadToken()
	if err != nil {
		return event, key, err
	}
	event, key, err = j.members(w, tok)
	return event, key, cutOff(err)
}

// members reads one event, whose first token has been read.
func (j *jsonWire) members(w *watchReader, first jsontext.Token) (event Event[object.Object], key object.Key, err error) {
	if first.Kind() != '{' {
		return event, key, fmt.Errorf("%w: an event is a JSON object, not a %v", ErrMalformed, first.Kind())
	}
	var typ string
	var early jsontext.Value // the object, if it stands before the type
	var done bool
	for j.dec.PeekKind() != '}' {
		tok, err := j.dec.ReadToken()
		if err != nil {
			return event, key, err
		}
		switch name := tok.String(); name {
		case "type":
			if typ != "" {
				return event, key, errTwoTypes
			}
			if typ, err = j.text("the event's type"); err == nil {
				err = checkType(typ)
			}
		case "object":
			switch {
			case done || early != nil:
				err = errTwoObjects
			case typ == "":
				early, err = j.dec.ReadValue()
				early = early.Clone() // the decoder's buffer goes on
			default:
				done = true
				event, key, err = w.content(typ, j)
			}
		default:
			err = j.dec.SkipValue()
		}
		if err != nil {
			return event, key, err
		}
	}
	if _, err := j.dec.ReadToken(); err != nil {
		return event, key, err
	}
	switch {
	case done:
		return event, key, nil
	case typ == "":
		return event, key, checkType(typ)
	case early == nil:
		return event, key, errNoObject(typ)
	}
	j.raw = early
	defer func() { j.raw = nil }()
	return w.content(typ, j)
}

// object implements value.
func (j *jsonWire) object() (object.Object, identity, error) {
	if j.c.untyped {
		var content map[string]any
		var err error
		if j.raw == nil {
			content, err = j.content.content()
		} else {
			content, err = j.content.decodeContent(j.raw)
		}
		return j.c.readUntyped(content, err)
	}
	obj := j.c.newObject()
	if obj == nil {
		return nil, identity{}, errNoNewObject
	}
	err := j.typed(obj)
	return j.c.read(obj, identity{}, err)
}

// typed decodes the value at hand.
func (j *jsonWire) typed(obj object.Object) error {
	if j.slim != nil {
		return j.slim.decode(obj, j.unmarshal)
	}
	if !j.c.exotic {
		if err := j.unmarshal(obj); err != nil {
			return err
		}
	} else {
		raw := j.raw
		if raw == nil {
			var err error
			if raw, err = j.dec.ReadValue(); err != nil {
				return err
			}
		}
		if err := sigsjson.UnmarshalCaseSensitivePreserveInts(raw, obj); err != nil {
			return err
		}
	}
	j.c.drop.from(obj)
	return nil
}

// mark implements value.
func (j *jsonWire) mark() (mark, error) {
	var v struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			ResourceVersion string            `json:"resourceVersion"`
			Annotations     map[string]string `json:"annotations"`
		} `json:"metadata"`
	}
	err := j.unmarshal(&v)
	return mark{
		apiVersion: v.APIVersion, kind: v.Kind, resourceVersion: v.Metadata.ResourceVersion,
		initialEventsEnd: v.Metadata.Annotations[metav1.InitialEventsAnnotationKey] == "true",
	}, err
}

// status implements value.
func (j *jsonWire) status() (status metav1.Status, err error) {
	err = j.unmarshal(&status)
	return status, err
}

// unmarshal decodes the value at hand. A decoder has its options from its construction.
func (j *jsonWire) unmarshal(dst any) error {
	if j.raw != nil {
		return json.Unmarshal(j.raw, dst, typedOptions)
	}
	return json.UnmarshalDecode(j.dec, dst)
}

// token reads a token that has to be of the kind wanted.
func (j *jsonWire) token(want jsontext.Kind, what string) (jsontext.Token, error) {
	tok, err := j.dec.ReadToken()
	if err != nil {
		return tok, err
	}
	if tok.Kind() != want {
		return tok, fmt.Errorf("%w: %s is a JSON %v, want %v", ErrMalformed, what, tok.Kind(), want)
	}
	return tok, nil
}

// text reads a string, or null as "".
func (j *jsonWire) text(what string) (string, error) {
	if j.dec.PeekKind() == 'n' {
		_, err := j.dec.ReadToken()
		return "", err
	}
	tok, err := j.token('"', what)
	if err != nil {
		return "", err
	}
	return tok.String(), nil
}
