// SPDX-License-Identifier: Apache-2.0

package source

import (
	"encoding"
	stdjson "encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// typedOptions are the semantics of sigs.k8s.io/json for everything but integers inside an empty interface. The one thing
// that is not taken over from version 1 is to validate each value before it is decoded: a second pass over all bytes.
var typedOptions = json.JoinOptions(jsonv1.DefaultOptionsV1(), json.MatchCaseInsensitiveNames(false), lenient(false))

// lenient makes decoding indifferent to mistakes in the json tags of a Go type, at the price of the second pass.
var lenient = jsonv1.ReportErrorsWithLegacySemantics

// untyped adds integers in empty interfaces, and the Number of encoding/json. It costs time on every value, so only types
// that have one or the other somewhere are decoded with it.
var untyped = json.WithUnmarshalers(json.JoinUnmarshalers(
	json.UnmarshalFromFunc(unmarshalAny),
	json.UnmarshalFromFunc(unmarshalNumber),
))

// codec decodes the objects of one collection. It has no state and is shared by all streams.
type codec struct {
	// Set once at construction.
	gvr        schema.GroupVersionResource
	apiVersion string // of gvr, shared by all objects
	kind       string // expected and shared by all objects; "" accepts the server's
	untyped    bool   // objects hold their content as a map
	options    json.Options
	newObject  func() object.Object
}

func newCodec(gvr schema.GroupVersionResource, kind string, sample object.Object, newObject func() object.Object) *codec {
	c := &codec{
		gvr:        gvr,
		apiVersion: gvr.GroupVersion().String(),
		kind:       kind,
		options:    typedOptions,
		newObject:  newObject,
	}
	t := reflect.TypeOf(sample).Elem()
	_, c.untyped = sample.(runtime.Unstructured)
	_, partial := sample.(*metav1.PartialObjectMetadata)
	if kind == "" && !c.untyped && !partial && !strings.Contains(t.Name(), "[") {
		c.kind = t.Name()
	}
	if c.untyped {
		c.options = json.JoinOptions(c.options, untyped)
		return c
	}
	needs := needs{seen: map[reflect.Type]bool{}}
	needs.of(t)
	if needs.untyped {
		c.options = json.JoinOptions(c.options, untyped)
	}
	if needs.lenient {
		c.options = json.JoinOptions(c.options, lenient(true))
	}
	return c
}

// identity is what every object has to say about itself.
type identity struct {
	apiVersion, kind string // as the server put it on the object, or ""
	key              object.Key
	resourceVersion  string
}

// decode reads the next object: from the stream, or from raw if that is not nil. With an error, the object may be nil or
// incomplete, good for its key only.
func (c *codec) decode(dec *jsontext.Decoder, raw jsontext.Value) (object.Object, identity, error) {
	obj := c.newObject()
	if obj == nil {
		return nil, identity{}, fmt.Errorf("newObject returned nil; it has to return a new object at each call")
	}
	var id identity
	var err error
	if u, ok := obj.(runtime.Unstructured); ok {
		var content map[string]any
		if err = unmarshal(dec, raw, &content, c.options); err == nil && content == nil {
			err = fmt.Errorf("%w: null instead of an object", ErrMalformed)
		}
		if content == nil {
			content = map[string]any{}
		}
		u.SetUnstructuredContent(content)
		id.apiVersion, _ = content["apiVersion"].(string)
		id.kind, _ = content["kind"].(string)
	} else {
		err = unmarshal(dec, raw, obj, c.options)
		switch k := obj.GetObjectKind().(type) {
		case *metav1.TypeMeta:
			id.apiVersion, id.kind = k.APIVersion, k.Kind
		default:
			id.apiVersion, id.kind = k.GroupVersionKind().ToAPIVersionAndKind()
		}
	}
	if metaErr := readMeta(obj, &id); err == nil {
		err = metaErr
	}
	return obj, id, err
}

// readMeta reads the metadata of an object whose accessors may panic: those of a type whose metadata is a pointer do if
// the server left the metadata out.
func readMeta(obj object.Object, id *identity) (err error) {
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("%w: the object has no metadata", ErrNoName)
		}
	}()
	id.key = object.KeyOf(obj)
	id.resourceVersion = obj.GetResourceVersion()
	return nil
}

func (c *codec) wrongKind(apiVersion, kind string) error {
	want := c.kind
	if want == "" {
		want = "the kind of " + c.gvr.Resource
	}
	if apiVersion == "" {
		apiVersion = "?"
	}
	hint := "check the resource that the source was made for"
	if kind == "Table" {
		hint = "something between the client and the server asks for tables in the place of plain JSON"
	}
	return fmt.Errorf("%w: got %s %s, want %s %s; %s", ErrWrongKind, apiVersion, kind, c.apiVersion, want, hint)
}

// stamp sets the shared strings, so that no object keeps its own copies.
func (c *codec) stamp(obj object.Object, kind string) {
	if u, ok := obj.(runtime.Unstructured); ok {
		content := u.UnstructuredContent()
		content["apiVersion"], content["kind"] = c.apiVersion, kind
		return
	}
	switch k := obj.GetObjectKind().(type) {
	case *metav1.TypeMeta:
		k.APIVersion, k.Kind = c.apiVersion, kind
	default:
		k.SetGroupVersionKind(c.gvr.GroupVersion().WithKind(kind))
	}
}

// unmarshal decodes the stream's next value, or raw. A decoder has its options from its construction.
func unmarshal(dec *jsontext.Decoder, raw jsontext.Value, dst any, opts json.Options) error {
	if raw != nil {
		return json.Unmarshal(raw, dst, opts)
	}
	return json.UnmarshalDecode(dec, dst)
}

// unmarshalAny decodes into an empty interface: as int64 whatever is written as an integer and fits, as float64 the
// other numbers.
func unmarshalAny(dec *jsontext.Decoder, dst *any) error {
	v, err := readAny(dec)
	if err != nil {
		return err
	}
	*dst = v
	return nil
}

func readAny(dec *jsontext.Decoder) (any, error) {
	tok, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case 'n':
		return nil, nil
	case 't', 'f':
		return tok.Bool(), nil
	case '"':
		return tok.String(), nil
	case '0':
		return parseNumber(tok.String())
	case '[':
		list := []any{}
		for dec.PeekKind() != ']' {
			v, err := readAny(dec)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = dec.ReadToken()
		return list, err
	default:
		fields := map[string]any{}
		for dec.PeekKind() != '}' {
			tok, err := dec.ReadToken()
			if err != nil {
				return nil, err
			}
			name := tok.String()
			v, err := readAny(dec)
			if err != nil {
				return nil, err
			}
			fields[name] = v
		}
		_, err = dec.ReadToken()
		return fields, err
	}
}

// unmarshalNumber takes a number, or a string with a number in it, as it is written.
func unmarshalNumber(dec *jsontext.Decoder, dst *stdjson.Number) error {
	tok, err := dec.ReadToken()
	if err != nil {
		return err
	}
	switch s := tok.String(); {
	case tok.Kind() == 'n':
		return nil
	case tok.Kind() == '0', tok.Kind() == '"' && jsontext.Value(s).Kind() == '0' && jsontext.Value(s).IsValid() && strings.TrimSpace(s) == s:
		*dst = stdjson.Number(s)
		return nil
	default:
		return fmt.Errorf("%q is not a number", s)
	}
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

// needs finds out which options a type needs. Types with a method of their own are opaque.
type needs struct {
	seen             map[reflect.Type]bool
	untyped, lenient bool
}

func (n *needs) of(t reflect.Type) {
	if n.seen[t] {
		return
	}
	n.seen[t] = true
	p := reflect.PointerTo(t)
	if p.Implements(jsonUnmarshaler) || p.Implements(fromUnmarshaler) || p.Implements(textUnmarshaler) {
		return
	}
	switch t.Kind() {
	case reflect.Interface:
		n.untyped = n.untyped || t.NumMethod() == 0
	case reflect.String:
		n.untyped = n.untyped || t == reflect.TypeFor[stdjson.Number]()
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		n.of(t.Elem())
	case reflect.Struct:
		if json.Unmarshal([]byte("{}"), reflect.New(t).Interface(), typedOptions) != nil {
			n.lenient = true
		}
		for f := range t.Fields() {
			n.of(f.Type)
		}
	}
}
