// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/informer-gen/informer-gen/runtime/object"
)

func (s *Stream) fail(key object.Key, err error, offset int64) error {
	var broken *BrokenError
	if errors.As(err, &broken) {
		return broken
	}
	if isUnexpectedEOF(err) {
		err = fmt.Errorf("%w: the response is cut off: %w", ErrMalformed, io.ErrUnexpectedEOF)
	}
	if s.itemNumber <= 1 && isSyntax(err) {
		err = fmt.Errorf("%w; is this the address of a Kubernetes API?", err)
	}
	// the key of a dropped object is part of the buffer
	key = object.Key{Namespace: strings.Clone(key.Namespace), Name: strings.Clone(key.Name)}
	return &Error{Item: s.itemNumber, Offset: offset, Key: key, Err: err}
}

func isSyntax(err error) bool {
	var v1 *jsonv1.SyntaxError
	var v2 *jsontext.SyntacticError
	return errors.As(err, &v1) || errors.As(err, &v2)
}

// isUnexpectedEOF reports whether a stream ended too early. Version 1 of the JSON decoder has no
// error value for that, so its text is compared.
func isUnexpectedEOF(err error) bool {
	var v1 *jsonv1.SyntaxError
	return err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.As(err, &v1) && v1.Error() == "unexpected end of JSON input"
}

// accept checks an object and sets its kind. hint is the kind of objects without a kind, "" if
// unknown.
func (s *Stream) accept(r *Item, hint string) error {
	kind, err := s.checkKind(r.id.apiVersion, r.id.kind, hint)
	switch {
	case err != nil:
		return err
	case r.id.key.Name == "":
		return fmt.Errorf("%w: the object has no metadata.name", ErrMalformed)
	case !isVersion(r.id.resourceVersion):
		return fmt.Errorf("%w: the object has no metadata.resourceVersion", ErrMalformed)
	}
	if !r.dropped {
		s.codec.setKind(r.Object, kind)
	}
	return nil
}

func (s *Stream) checkKind(apiVersion, kind, hint string) (string, error) {
	if kind == "" {
		kind = hint
	}
	if s.codec.metadataOnly {
		return s.checkMetadata(apiVersion, kind)
	}
	want := s.codec.expectedKind()
	if want == "" {
		want = s.firstKind
	}
	if want == "" && s.codec.learn(hint) {
		want = hint
	}
	if kind == "" {
		kind = want
	}
	switch {
	case apiVersion != "" && apiVersion != s.codec.apiVersion, want != "" && kind != want:
		return "", s.codec.wrongKind(apiVersion, kind)
	case kind == "":
		return "", fmt.Errorf("%w: neither the object nor its list has a kind", ErrWrongKind)
	case want == "":
		s.firstKind = kind
		s.codec.learn(kind)
		return kind, nil
	}
	return want, nil
}

// checkMetadata is checkKind for a source of metadata. The server sends the metadata of an object,
// as requested, or a whole object if it can't send less. Both look the same afterwards.
func (s *Stream) checkMetadata(apiVersion, kind string) (string, error) {
	isMetadata := kind == metadataKind && (apiVersion == "" || apiVersion == metadataAPIVersion)
	isFullObject := kind != metadataKind && (apiVersion == "" || apiVersion == s.codec.apiVersion) && (s.codec.kind == "" || kind == "" || kind == s.codec.kind)
	switch {
	case !isMetadata && !isFullObject, kind == "Status", kind == "Table":
		return "", s.codec.wrongKind(apiVersion, kind)
	case s.codec.kind != "":
		return s.codec.kind, nil
	}
	return metadataKind, nil
}
