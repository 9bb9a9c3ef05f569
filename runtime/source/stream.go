// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// wire reads one response in one format: jsonWire, protoWire or cborWire. It knows how values are delimited and decoded. What has
// to hold for a list, an item and an event is checked by listReader and watchReader, which are the same for all formats.
type wire interface {
	value
	// list reads the whole response. It sets what the list says of itself as it comes, and calls l.item for each item.
	list(l *listReader) error
	// event reads the next event of a watch and returns what w.content makes of it; io.EOF if there is no next one.
	event(w *watchReader) (Event[object.Object], object.Key, error)
	// offset is the number of bytes before the place where reading has stopped.
	offset() int64
}

// value is the value of the stream that is at hand, an item or what an event is about. It is read once, by the method for
// what it is.
type value interface {
	// object decodes an object. With an error, the object may be nil or incomplete, good for its key only.
	object() (object.Object, identity, error)
	// mark decodes what a bookmark says.
	mark() (mark, error)
	// status decodes a Status.
	status() (metav1.Status, error)
}

// mark is what a bookmark says. It is an object of the kind, but no object.
type mark struct {
	apiVersion, kind string
	resourceVersion  string
	initialEventsEnd bool
}

// stream is one response being read.
type stream struct {
	*codec
	wire    wire
	verb    string
	body    *bodyReader
	item    int    // number of the object or event at hand, from 1
	learned string // the kind of the first object, if the codec has none
}

func newStream(c *codec, verb string, body io.ReadCloser, f Format) *stream {
	s := &stream{codec: c, verb: verb, body: &bodyReader{r: body, limit: maxItem, left: maxItem}}
	switch f {
	case Protobuf:
		s.wire = newProtoWire(c, s.body)
	case CBOR:
		s.wire = newCBORWire(c, s.body)
	default:
		s.wire = newJSONWire(c, s.body)
	}
	return s
}

func (s *stream) close() { s.body.r.Close() }

// bodyReader remembers why the body ended, which tells a broken connection from a broken response. It ends a response in which
// one item has no end.
type bodyReader struct {
	r     io.ReadCloser
	err   error // the first error of r other than io.EOF
	limit int64 // what may be read for one item
	left  int64 // of the limit, for the item at hand
}

func (b *bodyReader) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if b.left <= 0 {
		return 0, fmt.Errorf("%w: %d bytes without an end", ErrMalformed, b.limit)
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if err != nil && err != io.EOF {
		b.err = err
	}
	return n, err
}

// count begins with the next item, an object or an event.
func (s *stream) count() {
	s.item++
	s.body.left = s.body.limit
}

// fail returns the error for what stopped the stream at its current position.
func (s *stream) fail(key object.Key, err error) error {
	if s.body.err != nil {
		return fmt.Errorf("%s %s: reading the response: %w", s.verb, describe(s.gvr), s.body.err)
	}
	if isCutOff(err) {
		err = fmt.Errorf("%w: the response is cut off: %w", ErrMalformed, io.ErrUnexpectedEOF)
	}
	if s.item <= 1 && isSyntax(err) {
		err = fmt.Errorf("%w; is this the address of a Kubernetes API?", err)
	}
	return &DecodeError{Verb: s.verb, Resource: s.gvr, Item: s.item, Offset: s.wire.offset(), Key: key, Err: err}
}

// isSyntax recognizes invalid JSON, from either layer of the decoder.
func isSyntax(err error) bool {
	var v1 *jsonv1.SyntaxError
	var v2 *jsontext.SyntacticError
	return errors.As(err, &v1) || errors.As(err, &v2)
}

// isCutOff recognizes a stream that ends too early. Version 1 of the JSON decoder has no value for it.
func isCutOff(err error) bool {
	var v1 *jsonv1.SyntaxError
	return err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.As(err, &v1) && v1.Error() == "unexpected end of JSON input"
}

// object reads, checks and stamps one object. hint is the kind of objects that don't say theirs, "" if nothing around
// them has told it.
func (s *stream) object(v value, hint string) (object.Object, identity, error) {
	obj, id, err := v.object()
	if err != nil {
		return nil, id, err
	}
	kind, err := s.checkKind(id.apiVersion, id.kind, hint)
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
func (s *stream) checkKind(apiVersion, kind, hint string) (string, error) {
	if kind == "" {
		kind = hint
	}
	if s.partial {
		return s.checkMetadata(apiVersion, kind)
	}
	want := s.kind
	if want == "" {
		want = s.learned
	}
	if kind == "" {
		kind = want
	}
	switch {
	case apiVersion != "" && apiVersion != s.apiVersion, want != "" && kind != want:
		return "", s.wrongKind(apiVersion, kind)
	case kind == "":
		return "", fmt.Errorf("%w: nothing says what kind of object this is", ErrWrongKind)
	case want == "":
		s.learned = kind
		return kind, nil
	}
	return want, nil
}

// checkMetadata is checkKind for metadata: that of an object, as asked for, or a whole object from a server that can't send
// less. Both look the same afterwards.
func (s *stream) checkMetadata(apiVersion, kind string) (string, error) {
	metadata := kind == metadataKind && (apiVersion == "" || apiVersion == metadataAPIVersion)
	whole := kind != metadataKind && (apiVersion == "" || apiVersion == s.apiVersion) && (s.kind == "" || kind == "" || kind == s.kind)
	switch {
	case !metadata && !whole, kind == "Status", kind == "Table":
		return "", s.wrongKind(apiVersion, kind)
	case s.kind != "":
		return s.kind, nil
	}
	return metadataKind, nil
}
