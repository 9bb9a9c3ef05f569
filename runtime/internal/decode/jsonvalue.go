// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"bytes"
	"encoding"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/dropped"
	"github.com/informer-gen/informer-gen/runtime/internal/quantity"
)

// typedOptions are the semantics of sigs.k8s.io/json for every type that is not exotic. One thing
// is left out of version 1: validating each value before it is decoded, which is a second pass over
// all bytes. Quantities are parsed in bounded time.
var typedOptions = json.JoinOptions(
	jsonv1.DefaultOptionsV1(),
	json.MatchCaseInsensitiveNames(false),
	jsonv1.ReportErrorsWithLegacySemantics(false),
	json.WithUnmarshalers(json.UnmarshalFunc(quantity.ParseJSON)),
)

// contentReader reads untyped objects.
type contentReader struct {
	src   bytes.Buffer      // read by dec, in place
	dec   *jsontext.Decoder // of src
	drop  *dropped.Parts
	names map[string]string // names of members, so that objects share them
}

// Bounds of the names that are kept for later objects, because keys of annotations can be many and
// long.
const (
	maxNames    = 4096
	maxNameSize = 64
)

func newContentReader(c *Codec) contentReader {
	if !c.untyped {
		return contentReader{}
	}
	return contentReader{drop: &c.drop, names: map[string]string{}}
}

// decodeContent reads an object that is all of raw.
func (r *contentReader) decodeContent(raw []byte) (map[string]any, error) {
	r.src = *bytes.NewBuffer(raw)
	if r.dec == nil {
		r.dec = jsontext.NewDecoder(&r.src, typedOptions)
	}
	content, err := r.content()
	if err == nil {
		if _, end := r.dec.ReadToken(); end != io.EOF {
			err = fmt.Errorf("%w: something stands after the object", ErrMalformed)
		}
	}
	r.src = bytes.Buffer{}
	r.dec.Reset(&r.src, typedOptions) // now, so that the buffer that raw is in isn't kept
	if err != nil {
		return nil, err
	}
	return content, nil
}

// content reads an object; null is nil.
func (r *contentReader) content() (map[string]any, error) {
	switch got := r.dec.PeekKind(); got {
	case '{':
		return r.object(func(name string) (any, bool, error) {
			if name != "metadata" || r.drop.None() || r.dec.PeekKind() != '{' {
				return nil, false, nil
			}
			v, err := r.metadata()
			return v, true, err
		})
	case 'n', jsontext.KindInvalid:
		_, err := r.dec.ReadToken()
		return nil, err
	default:
		return nil, fmt.Errorf("%w: an object is not a JSON %v", ErrMalformed, got)
	}
}

func (r *contentReader) metadata() (map[string]any, error) {
	emptied := false
	meta, err := r.object(func(name string) (any, bool, error) {
		switch {
		case name == "managedFields" && r.drop.ManagedFields:
			return errDropped, true, r.dec.SkipValue()
		case name == "annotations" && r.drop.Annotations != nil && r.dec.PeekKind() == '{':
			n := 0
			v, err := r.object(func(name string) (any, bool, error) {
				if !r.drop.Annotations[name] {
					return nil, false, nil
				}
				n++
				return errDropped, true, r.dec.SkipValue()
			})
			emptied = len(v) == 0 && n > 0
			return v, true, err
		}
		return nil, false, nil
	})
	if emptied {
		delete(meta, "annotations")
	}
	return meta, err
}

// errDropped stands for a value that is not kept. It is never returned as an error.
var errDropped = errors.New("dropped")

// any reads a value for an empty interface. A number that is written as an integer and fits is an
// int64; other numbers are float64.
func (r *contentReader) any() (any, error) {
	switch r.dec.PeekKind() {
	case '{':
		return r.object(nil)
	case '[':
		if _, err := r.dec.ReadToken(); err != nil {
			return nil, err
		}
		list := []any{}
		for r.dec.PeekKind() != ']' {
			v, err := r.any()
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := r.dec.ReadToken()
		return list, err
	}
	tok, err := r.dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case '"':
		return tok.String(), nil
	case '0':
		return parseNumber(tok.String())
	case 'n':
		return nil, nil
	}
	return tok.Bool(), nil
}

// object reads an object. own may read the values of some names itself, and returns errDropped for
// those that are dropped.
func (r *contentReader) object(own func(name string) (any, bool, error)) (map[string]any, error) {
	if _, err := r.dec.ReadToken(); err != nil {
		return nil, err
	}
	fields := map[string]any{}
	for r.dec.PeekKind() != '}' {
		name, err := r.name()
		if err != nil {
			return nil, err
		}
		var v any
		var done bool
		if own != nil {
			v, done, err = own(name)
		}
		if !done && err == nil {
			v, err = r.any()
		}
		if err != nil {
			return nil, err
		}
		if v != errDropped {
			fields[name] = v
		}
	}
	_, err := r.dec.ReadToken()
	return fields, err
}

// name reads the name of a member.
func (r *contentReader) name() (string, error) {
	raw, err := r.dec.ReadValue()
	if err != nil {
		return "", err
	}
	plain := raw[1 : len(raw)-1]
	if name, ok := r.names[string(plain)]; ok {
		return name, nil
	}
	if bytes.IndexByte(plain, '\\') >= 0 || !utf8.Valid(plain) {
		// the only error is invalid UTF-8, which is replaced
		name, _ := jsontext.AppendUnquote(nil, raw)
		return string(name), nil
	}
	name := string(plain)
	if len(name) <= maxNameSize && len(r.names) < maxNames {
		r.names[name] = name
	}
	return name, nil
}

func parseNumber(s string) (any, error) {
	if !strings.Contains(s, ".") {
		if i, err := strconv.ParseInt(s, 10, 64); err == nil {
			return i, nil
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, fmt.Errorf("number %s does not fit into a float64", s)
	}
	return f, nil
}

var (
	jsonUnmarshaler = reflect.TypeFor[stdjson.Unmarshaler]()
	fromUnmarshaler = reflect.TypeFor[json.UnmarshalerFrom]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// isExotic reports whether a type has something in it that our decoder reads differently from
// sigs.k8s.io/json, or not at all: an empty interface, a json.Number, an UnmarshalJSONFrom method,
// a channel or a function, a json tag that version 1 and version 2 of the decoder understand
// differently. Types of Kubernetes APIs have none of these. It doesn't look into types that have a
// decoding method of their own.
func isExotic(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	p := reflect.PointerTo(t)
	if p.Implements(fromUnmarshaler) {
		return true
	}
	if p.Implements(jsonUnmarshaler) || p.Implements(textUnmarshaler) {
		return false
	}
	switch t.Kind() {
	case reflect.Interface:
		return t.NumMethod() == 0
	case reflect.Chan, reflect.Func:
		return true
	case reflect.String:
		return t == reflect.TypeFor[stdjson.Number]()
	case reflect.Map:
		return isExotic(t.Key(), seen) || isExotic(t.Elem(), seen)
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return isExotic(t.Elem(), seen)
	case reflect.Struct:
		for f := range t.Fields() {
			if isExoticTag(f.Tag.Get("json"), f.Type) || isExotic(f.Type, seen) {
				return true
			}
		}
		return json.Unmarshal([]byte("{}"), reflect.New(t).Interface(), typedOptions) != nil
	}
	return false
}

// isExoticTag reports whether a tag has a name that version 1 ignores, an option that it doesn't
// have, or "string" where it has another meaning or none.
func isExoticTag(tag string, t reflect.Type) bool {
	name, options, _ := strings.Cut(tag, ",")
	for _, c := range name {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", c) {
			return true
		}
	}
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "", "omitempty", "omitzero", "inline":
		case "string":
			if t.Kind() == reflect.Pointer {
				t = t.Elem()
			}
			if basic := t.Kind() >= reflect.Bool && t.Kind() <= reflect.Float64; !basic || t.PkgPath() != "" {
				return true
			}
		default:
			return true
		}
	}
	return false
}
