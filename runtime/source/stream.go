// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// stream reads one response.
type stream struct {
	codec *codec
	// Set once at construction.
	format   formatReader
	verb     string
	body     *bodyReader
	feed     *feed
	procs    int // goroutines that decode
	maxLoad  int // goroutines of the load from which on no helper is added
	readOnly bool
	known    knownFunc // nil: nothing

	counted bool // the load counts the stream; belongs to the feed's owner

	// Used by the caller's goroutine only.
	item    int    // number of the current object or event, from 1
	learned string // the kind of the first object, if the codec has none
}

// knownFunc returns an object that the caller already has, or nil.
type knownFunc func(key object.Key, uid types.UID, resourceVersion string) object.Object

func newStream(c *codec, verb string, body io.ReadCloser, f Format) *stream {
	s := &stream{codec: c, verb: verb, body: &bodyReader{r: body, limit: maxItem, remaining: maxItem}}
	s.procs, s.maxLoad = c.tuning.procs, c.tuning.procs
	if s.procs == 0 {
		s.maxLoad = runtime.GOMAXPROCS(0)
		s.procs = min(s.maxLoad, maxProcs)
	}
	s.feed = &feed{body: s.body, sizes: c.tuning.sizes, table: c.pools.table()}
	switch f {
	case Protobuf:
		s.format = &protoFormat{s: s, f: s.feed}
	case CBOR:
		s.format = &cborFormat{s: s, f: s.feed}
	default:
		s.format = &jsonFormat{s: s, f: s.feed}
	}
	return s
}

func (s *stream) close() { s.feed.close() }

// fail returns the error of a stream that stopped at an offset with err.
func (s *stream) fail(key object.Key, err error, offset int64) error {
	var broken *brokenError
	if errors.As(err, &broken) {
		return fmt.Errorf("%s %s: reading the response: %w", s.verb, describe(s.codec.gvr), broken.err)
	}
	if isCutOff(err) {
		err = fmt.Errorf("%w: the response is cut off: %w", ErrMalformed, io.ErrUnexpectedEOF)
	}
	if s.item <= 1 && isSyntax(err) {
		err = fmt.Errorf("%w; is this the address of a Kubernetes API?", err)
	}
	return &DecodeError{Verb: s.verb, Resource: s.codec.gvr, Item: s.item, Offset: offset, Key: key, Err: err}
}

// isSyntax reports whether err is about invalid JSON, from either layer of the decoder.
func isSyntax(err error) bool {
	var v1 *jsonv1.SyntaxError
	var v2 *jsontext.SyntacticError
	return errors.As(err, &v1) || errors.As(err, &v2)
}

// isCutOff reports whether err is about a stream that ends too early. Version 1 of the JSON decoder
// has no error value for that, so its text is compared.
func isCutOff(err error) bool {
	var v1 *jsonv1.SyntaxError
	return err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.As(err, &v1) && v1.Error() == "unexpected end of JSON input"
}

// accept checks an object and sets its kind. hint is the kind of objects that carry none, "" if it
// is unknown.
func (s *stream) accept(r *reading, hint string) error {
	kind, err := s.checkKind(r.id.apiVersion, r.id.kind, hint)
	switch {
	case err != nil:
		return err
	case r.id.key.Name == "":
		return fmt.Errorf("%w: the object can't be kept without it", ErrNoName)
	case !isVersion(r.id.resourceVersion):
		return fmt.Errorf("%w: the object can't be ordered without it", ErrNoResourceVersion)
	}
	s.codec.stamp(r.obj, kind)
	return nil
}

// checkKind compares the apiVersion and kind of an object with those that were asked for, and
// returns the shared string of its kind.
func (s *stream) checkKind(apiVersion, kind, hint string) (string, error) {
	if kind == "" {
		kind = hint
	}
	if s.codec.partial {
		return s.checkMetadata(apiVersion, kind)
	}
	want := s.codec.kind
	if want == "" {
		want = s.learned
	}
	if kind == "" {
		kind = want
	}
	switch {
	case apiVersion != "" && apiVersion != s.codec.apiVersion, want != "" && kind != want:
		return "", s.codec.wrongKind(apiVersion, kind)
	case kind == "":
		return "", fmt.Errorf("%w: nothing says what kind of object this is", ErrWrongKind)
	case want == "":
		s.learned = kind
		return kind, nil
	}
	return want, nil
}

// checkMetadata is checkKind for a source of metadata. The server sends the metadata of an object,
// as asked for, or a whole object if it can't send less. Both look the same afterwards.
func (s *stream) checkMetadata(apiVersion, kind string) (string, error) {
	metadata := kind == metadataKind && (apiVersion == "" || apiVersion == metadataAPIVersion)
	whole := kind != metadataKind && (apiVersion == "" || apiVersion == s.codec.apiVersion) && (s.codec.kind == "" || kind == "" || kind == s.codec.kind)
	switch {
	case !metadata && !whole, kind == "Status", kind == "Table":
		return "", s.codec.wrongKind(apiVersion, kind)
	case s.codec.kind != "":
		return s.codec.kind, nil
	}
	return metadataKind, nil
}
