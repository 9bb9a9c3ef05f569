// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// stream is one response being decoded.
type stream struct {
	*codec
	verb        string
	body        *bodyReader
	dec         *jsontext.Decoder
	contentType string
	item        int    // number of the object or event at hand, from 1
	learned     string // the kind of the first object, if the codec has none
}

func (c *collection) stream(verb string, resp *http.Response) *stream {
	return newStream(c.codec, verb, resp.Body, resp.Header.Get("Content-Type"))
}

func newStream(c *codec, verb string, body io.Reader, contentType string) *stream {
	r := &bodyReader{r: body}
	return &stream{codec: c, verb: verb, body: r, dec: jsontext.NewDecoder(r, c.options), contentType: contentType}
}

// bodyReader remembers why the body ended, which tells a broken connection from broken JSON.
type bodyReader struct {
	r   io.Reader
	err error // the first error other than io.EOF
}

func (b *bodyReader) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.r.Read(p)
	if err != nil && err != io.EOF {
		b.err = err
	}
	return n, err
}

// fail returns the error for what stopped the decoder at its current position.
func (s *stream) fail(key object.Key, err error) error {
	if s.body.err != nil {
		return fmt.Errorf("%s %s: reading the response: %w", s.verb, describe(s.gvr), s.body.err)
	}
	if isCutOff(err) {
		err = fmt.Errorf("%w: the response is cut off: %w", ErrMalformed, io.ErrUnexpectedEOF)
	}
	if mediaType, _, parseErr := mime.ParseMediaType(s.contentType); s.item <= 1 && parseErr == nil && mediaType != "application/json" {
		if isSyntax(err) {
			err = fmt.Errorf("%w; the server calls it %q: is this the address of a Kubernetes API?", err, mediaType)
		}
	}
	return &DecodeError{Verb: s.verb, Resource: s.gvr, Item: s.item, Offset: s.dec.InputOffset(), Key: key, Err: err}
}

// isSyntax recognizes invalid JSON, from either layer of the decoder.
func isSyntax(err error) bool {
	var v1 *jsonv1.SyntaxError
	var v2 *jsontext.SyntacticError
	return errors.As(err, &v1) || errors.As(err, &v2)
}

// isCutOff recognizes JSON that ends too early. Version 1 of the decoder has no value for it.
func isCutOff(err error) bool {
	var v1 *jsonv1.SyntaxError
	return err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.As(err, &v1) && v1.Error() == "unexpected end of JSON input"
}

// token reads a token that has to be of the kind wanted.
func (s *stream) token(want jsontext.Kind, what string) (jsontext.Token, error) {
	tok, err := s.dec.ReadToken()
	if err != nil {
		return tok, err
	}
	if tok.Kind() != want {
		return tok, fmt.Errorf("%w: %s is a JSON %v, want %v", ErrMalformed, what, tok.Kind(), want)
	}
	return tok, nil
}

// text reads a string, or null as "".
func (s *stream) text(what string) (string, error) {
	if s.dec.PeekKind() == 'n' {
		_, err := s.dec.ReadToken()
		return "", err
	}
	tok, err := s.token('"', what)
	if err != nil {
		return "", err
	}
	return tok.String(), nil
}

// object reads, checks and stamps one object. hint is the kind of objects that don't say theirs, "" if nothing around
// them has told it.
func (s *stream) object(raw jsontext.Value, hint string) (object.Object, identity, error) {
	obj, id, err := s.decode(s.dec, raw)
	if err != nil {
		return nil, id, err
	}
	kind, err := s.checkKind(id, hint)
	switch {
	case err != nil:
		return nil, id, err
	case id.key.Name == "":
		return nil, id, fmt.Errorf("%w: the object can't be kept without it", ErrNoName)
	case id.resourceVersion == "":
		return nil, id, fmt.Errorf("%w: the object can't be ordered without it", ErrNoResourceVersion)
	}
	s.stamp(obj, kind)
	return obj, id, nil
}

// checkKind compares what an object says it is with what was asked for, and returns the shared string of its kind.
func (s *stream) checkKind(id identity, hint string) (string, error) {
	want := s.kind
	if want == "" {
		want = s.learned
	}
	got := id.kind
	if got == "" {
		got = hint
	}
	if got == "" {
		got = want
	}
	switch {
	case id.apiVersion != "" && id.apiVersion != s.apiVersion, want != "" && got != want:
		return "", s.wrongKind(id.apiVersion, got)
	case got == "":
		return "", fmt.Errorf("%w: nothing says what kind of object this is", ErrWrongKind)
	case want == "":
		s.learned = got
		return got, nil
	}
	return want, nil
}
