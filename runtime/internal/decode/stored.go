// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// This file stores objects outside of the process, as ADDED watch events, so reading them is
// reading a response.

// StoredAs returns the format of stored objects: protobuf if the type has the methods, else JSON. A
// projection has fields of protobuf, but no method to write them.
func (c *Codec) StoredAs() Format {
	if c.protobuf && !c.projection {
		return Protobuf
	}
	return JSON
}

// AppendStored appends a stored object to b. It doesn't change obj, which may be in a cache.
func (c *Codec) AppendStored(b []byte, obj object.Object) ([]byte, error) {
	start := len(b)
	var err error
	if c.StoredAs() == Protobuf {
		b, err = appendProtobufEvent(b, obj)
	} else {
		b, err = appendJSONEvent(b, obj)
	}
	if err == nil {
		err = checkSize(uint64(len(b) - start))
	}
	return b, err
}

// appendProtobufEvent encodes a copy of obj, because encoding writes to quantities: they remember
// their text.
func appendProtobufEvent(b []byte, obj object.Object) ([]byte, error) {
	raw, err := EncodeProtobuf(obj.DeepCopyObject())
	if err != nil {
		return b, err
	}
	event := metav1.WatchEvent{Type: deltafifo.Added.String(), Object: runtime.RawExtension{Raw: raw}}
	size := event.Size()
	b = binary.BigEndian.AppendUint32(b, uint32(size))
	b = append(b, make([]byte, size)...)
	_, err = event.MarshalToSizedBuffer(b[len(b)-size:])
	return b, err
}

func appendJSONEvent(b []byte, obj object.Object) ([]byte, error) {
	buf := bytes.NewBuffer(append(b, `{"type":"ADDED","object":`...))
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false) // the fast decoder reads text without escapes faster
	err := enc.Encode(obj)
	return append(bytes.TrimSuffix(buf.Bytes(), []byte{'\n'}), "}\n"...), err
}

// EncodeProtobuf returns obj in the envelope of every Kubernetes object outside of a list. It fails
// if the type has no protobuf.
func EncodeProtobuf(obj runtime.Object) ([]byte, error) {
	message, ok := obj.(interface{ Marshal() ([]byte, error) })
	if !ok {
		return nil, fmt.Errorf("%T has no protobuf encoding", obj)
	}
	raw, err := message.Marshal()
	if err != nil {
		return nil, err
	}
	apiVersion, kind := obj.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
	unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: raw}
	raw, err = unknown.Marshal()
	return append([]byte(protoPrefix), raw...), err
}

// ReadStored calls item with each object written to stored by AppendStored. With readOnly the
// objects share equal parts, with each other and with those of the codec's streams; then nothing
// may change them. It returns the errors of stored and of item unchanged, and an [*Error] if the
// stored bytes can't be read.
func (c *Codec) ReadStored(stored io.Reader, readOnly bool, item func(object.Object) error) error {
	s := c.Open(context.Background(), io.NopCloser(stored), c.StoredAs(), Promises{ReadOnly: readOnly, Unordered: true})
	defer s.Close()
	err := s.Watch(func(r *Item) error {
		if r.Type != deltafifo.Added {
			return fmt.Errorf("%w: an event of type %v, want ADDED", ErrMalformed, r.Type)
		}
		return item(r.Object)
	})
	switch err := err.(type) {
	case CallbackError:
		return err.Err
	case *BrokenError:
		return err.Err
	}
	return err
}
