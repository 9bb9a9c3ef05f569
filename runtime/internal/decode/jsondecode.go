// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	sigsjson "sigs.k8s.io/json"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/internal/jsondec"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// jsonDecoder decodes objects and events. If the fast decoder declines an input, the slow one
// decodes it, with the results and errors of sigs.k8s.io/json.
type jsonDecoder struct {
	// Set once at construction.
	codec    *Codec
	readOnly bool

	known     Known      // nil: nothing
	selection *selection // nil: all
	// The apiVersion and kind of the last dropped object; most objects have the same.
	apiVersion, kind string

	// Made for the first object, since a watch may bring none.
	initialized bool
	fast        *jsondec.Decoder // nil for types without a fast decoder
	untyped     *jsondec.Untyped
}

func (d *jsonDecoder) item(raw []byte, r *Item) { d.object(raw, r, true) }

func (d *jsonDecoder) object(raw []byte, r *Item, lookUp bool) {
	known := d.known
	if !lookUp {
		known = nil
	}
	decided := d.selection == nil
	if !decided || known != nil {
		if decided = d.look(raw, r, known); r.known || r.dropped {
			return
		}
	}
	if n := d.decodeFast(raw, r); (n == 0 || !isSpace(raw[n:])) && r.err == nil {
		d.decodeSlow(raw, r)
	}
	if !decided && r.err == nil && r.id.key.Name != "" {
		r.dropped, r.err = d.drops(raw, r.Object)
	}
}

// look finds out from an object's metadata whether it is known or dropped. decided is true if it is
// not dropped for sure.
func (d *jsonDecoder) look(raw []byte, r *Item, known Known) (decided bool) {
	s := d.selection
	parts := jsondec.Parts{Loose: d.codec.projection, Controller: s != nil && s.byController}
	guess := jsondec.GuessIdentity(raw, parts)
	if len(guess.Name) == 0 || len(guess.ResourceVersion) == 0 {
		return s == nil
	}
	drop := s != nil && !s.keepsBytes(guess.Namespace, guess.Name, guess.UID, guess.Controller)
	var obj object.Object
	if known != nil && !drop {
		obj = find(known, guess.Name, guess.Namespace, guess.UID, guess.ResourceVersion)
	}
	if obj == nil && !drop && !d.codec.dropsOwners(s) {
		return s == nil
	}
	id, ok := jsondec.ReadIdentity(raw, parts)
	if !ok || !sameIdentity(&id, &guess) {
		return s == nil
	}
	switch {
	case drop:
		r.drop(reuse(&d.apiVersion, id.APIVersion), reuse(&d.kind, id.Kind), id.Namespace, id.Name, id.ResourceVersion)
	case obj != nil:
		setKnown(obj, r)
	}
	return true
}

// drops reports whether an object that was decoded is not kept.
func (d *jsonDecoder) drops(raw []byte, obj object.Object) (bool, error) {
	if !d.codec.dropsOwners(d.selection) {
		return !d.selection.keepsObject(obj), nil
	}
	var meta metav1.PartialObjectMetadata
	if err := unmarshalJSON(raw, &meta); err != nil {
		return false, err
	}
	return !d.selection.keepsObject(&meta), nil
}

// decodeFast decodes the object at the start of data by the fast decoder, and returns its length,
// or 0 if the decoder declines it.
func (d *jsonDecoder) decodeFast(data []byte, r *Item) int {
	if d.codec.untyped {
		if d.untyped == nil {
			d.untyped = jsondec.NewUntyped(d.codec.drop.ManagedFields)
		}
		content, n, ok := d.untyped.Decode(data)
		if !ok {
			return 0
		}
		d.setContent(content, nil, r)
		return n
	}
	if !d.initialized {
		d.initialized, d.fast = true, d.codec.fastJSON(d.readOnly)
	}
	if d.fast == nil {
		return 0
	}
	obj, fast, err := d.codec.create()
	if err != nil {
		r.err = err
		return 0
	}
	if !fast {
		return 0
	}
	n, ok := d.fast.Decode(data, obj)
	if !ok {
		return 0
	}
	r.Object, r.id, r.err = d.codec.identify(obj, identity{}, nil)
	return n
}

func sameIdentity(id, guess *jsondec.Identity) bool {
	return bytes.Equal(id.Name, guess.Name) && bytes.Equal(id.Namespace, guess.Namespace) && bytes.Equal(id.UID, guess.UID) &&
		bytes.Equal(id.ResourceVersion, guess.ResourceVersion) && sameOwner(&id.Controller, &guess.Controller)
}

func sameOwner(a, b *jsondec.Owner) bool {
	return a.IsController == b.IsController && bytes.Equal(a.APIVersion, b.APIVersion) && bytes.Equal(a.Kind, b.Kind) &&
		bytes.Equal(a.Name, b.Name) && bytes.Equal(a.UID, b.UID)
}

func (d *jsonDecoder) decodeSlow(raw []byte, r *Item) {
	if d.codec.untyped {
		var content map[string]any
		err := sigsjson.UnmarshalCaseSensitivePreserveInts(raw, &content)
		d.setContent(content, err, r)
	} else if obj := d.codec.newObject(); obj == nil {
		r.err = errNoNewObject
	} else {
		r.Object, r.id, r.err = d.codec.identify(obj, identity{}, d.decodeTyped(raw, obj))
	}
	r.offset = offsetOf(r.err, r.offset)
}

func (d *jsonDecoder) setContent(content map[string]any, err error, r *Item) {
	if r.Object, r.id, r.err = d.codec.createUntyped(content, err); r.err == nil {
		d.codec.drop.From(r.Object)
	}
}

func (d *jsonDecoder) decodeTyped(raw []byte, obj object.Object) error {
	unmarshal := unmarshalJSON
	if d.codec.needsSlowJSON() {
		unmarshal = sigsjson.UnmarshalCaseSensitivePreserveInts
	}
	if err := unmarshal(raw, obj); err != nil {
		return err
	}
	d.codec.drop.From(obj)
	return nil
}

func jsonStatus(raw []byte) (status metav1.Status, err error) {
	return status, unmarshalJSON(raw, &status)
}

func unmarshalJSON(raw []byte, dst any) error { return json.Unmarshal(raw, dst, typedOptions) }

func (d *jsonDecoder) event(raw []byte, r *Item) {
	if typ, rawObject, ok := splitEvent(raw); ok {
		before := *r
		r.offset-- // before the event's closing brace
		if d.eventObject(typ, rawObject, r); r.err == nil {
			return
		}
		*r = before
	}
	d.eventMembers(raw, r)
}

// splitEvent splits an event in the form written by API servers. ok is false for types other than
// those of objects and bookmarks. The caller must check that rawObject is one JSON value.
func splitEvent(raw []byte) (typ deltafifo.Type, rawObject []byte, ok bool) {
	typ, start := splitHead(raw)
	if typ == 0 || len(raw) == start || raw[len(raw)-1] != '}' {
		return 0, nil, false
	}
	return typ, raw[start : len(raw)-1], true
}

// splitHead reads {"type":"…","object": and returns the type and the length. The type is 0 if data
// begins otherwise.
func splitHead(data []byte) (typ deltafifo.Type, n int) {
	rest, ok := bytes.CutPrefix(data, []byte(`{"type":"`))
	end := bytes.IndexByte(rest[:min(len(rest), 16)], '"')
	if !ok || end < 0 {
		return 0, 0
	}
	typ = eventType(string(rest[:end]))
	if rest, ok = bytes.CutPrefix(rest[end:], []byte(`","object":`)); !ok {
		return 0, 0
	}
	return typ, len(data) - len(rest)
}

func (d *jsonDecoder) eventObject(typ deltafifo.Type, raw []byte, r *Item) {
	if r.Type = typ; typ != deltafifo.Bookmark {
		d.object(raw, r, typ == deltafifo.Added)
		return
	}
	var bookmark struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			ResourceVersion string            `json:"resourceVersion"`
			Annotations     map[string]string `json:"annotations"`
		} `json:"metadata"`
	}
	r.err = unmarshalJSON(raw, &bookmark)
	r.id = identity{apiVersion: bookmark.APIVersion, kind: bookmark.Kind, resourceVersion: bookmark.Metadata.ResourceVersion}
	r.InitialEventsEnd = bookmark.Metadata.Annotations[metav1.InitialEventsAnnotationKey] == "true"
}

func (d *jsonDecoder) eventMembers(raw []byte, r *Item) {
	dec := jsontext.NewDecoder(bytes.NewReader(raw), typedOptions)
	rawObject, err := d.readMembers(dec, r)
	if err != nil {
		r.err, r.offset = unexpectedEOF(err), dec.InputOffset()
		return
	}
	start := r.offset - int64(len(rawObject))
	r.offset = int64(len(rawObject))
	d.eventObject(r.Type, rawObject, r)
	r.offset += start
	if r.err != nil {
		relocate(r.err, start)
	}
}

// readMembers reads the members of an event. It sets r's type and the offset of the object's end,
// and returns the object. For an ERROR event it returns the error.
func (d *jsonDecoder) readMembers(dec *jsontext.Decoder, r *Item) (rawObject jsontext.Value, err error) {
	tok, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	if tok.Kind() != '{' {
		return nil, fmt.Errorf("%w: an event is a JSON object, not a %v", ErrMalformed, tok.Kind())
	}
	var typ string
	for dec.PeekKind() != '}' {
		tok, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		switch name := tok.String(); name {
		case "type":
			if typ != "" {
				return nil, errTwoTypes
			}
			if typ, err = readText(dec, "the event's type"); err == nil {
				err = checkType(typ)
			}
		case "object":
			if rawObject != nil {
				return nil, errTwoObjects
			}
			rawObject, err = dec.ReadValue()
			rawObject = rawObject.Clone() // the decoder reuses its buffer
			r.offset = dec.InputOffset()
		default:
			err = dec.SkipValue()
		}
		if err != nil {
			return nil, err
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	if err := checkType(typ); err != nil {
		return nil, err
	}
	if rawObject == nil {
		return nil, errNoObject(typ)
	}
	if typ == errorEvent {
		var status metav1.Status
		if err := unmarshalJSON(rawObject, &status); err != nil {
			return nil, err
		}
		return nil, statusError(status)
	}
	r.Type = eventType(typ)
	return rawObject, nil
}

func readText(dec *jsontext.Decoder, what string) (string, error) {
	tok, err := dec.ReadToken()
	switch {
	case err != nil:
		return "", err
	case tok.Kind() == 'n':
		return "", nil
	case tok.Kind() != '"':
		return "", fmt.Errorf("%w: %s is a JSON %v, want %v", ErrMalformed, what, tok.Kind(), jsontext.KindString)
	}
	return tok.String(), nil
}

func checkJSON(raw []byte) error {
	if n, ok := jsondec.Skip(raw); ok && n == len(raw) {
		return nil
	}
	dec := jsontext.NewDecoder(bytes.NewReader(raw), typedOptions)
	if err := dec.SkipValue(); err != nil {
		return unexpectedEOF(err)
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return fmt.Errorf("%w: there is more data after a JSON value", ErrMalformed)
	}
	return nil
}

func isSpace(raw []byte) bool {
	for _, c := range raw {
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}

func offsetOf(err error, fallback int64) int64 {
	var syntactic *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case err == nil:
	case errors.As(err, &syntactic):
		return syntactic.ByteOffset
	case errors.As(err, &semantic):
		return semantic.ByteOffset
	}
	return fallback
}

// relocate adds by to the offset in a decoder's error, which then counts from the beginning of the
// response.
func relocate(err error, by int64) {
	var syntactic *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case errors.As(err, &syntactic):
		syntactic.ByteOffset += by
	case errors.As(err, &semantic):
		semantic.ByteOffset += by
	}
}
