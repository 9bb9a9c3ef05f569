// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"bytes"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/protowire"
)

// envelope is an object with its kind and apiVersion, all parts of the input.
type envelope struct{ apiVersion, kind, raw []byte }

const protoPrefix = "k8s\x00"

func parseEnvelope(data []byte) (e envelope, err error) {
	if !bytes.HasPrefix(data, []byte(protoPrefix)) {
		return e, errNoPrefix(data[:min(len(data), len(protoPrefix))])
	}
	for rest := data[len(protoPrefix):]; len(rest) > 0; {
		var f protowire.Field
		if f, rest, err = protowire.Next(rest); err != nil {
			return e, malformedWire(err)
		}
		switch f.Tag {
		case protowire.Bytes(1):
			e.apiVersion, e.kind, err = parseTypeMeta(f.Value)
		case protowire.Bytes(2):
			e.raw = f.Value
		case protowire.Bytes(3):
			err = checkEncoding(f.Value)
		}
		if err != nil {
			return e, err
		}
	}
	return e, nil
}

func parseTypeMeta(msg []byte) (apiVersion, kind []byte, err error) {
	for len(msg) > 0 {
		var f protowire.Field
		if f, msg, err = protowire.Next(msg); err != nil {
			return nil, nil, malformedWire(err)
		}
		switch f.Tag {
		case protowire.Bytes(1):
			apiVersion = f.Value
		case protowire.Bytes(2):
			kind = f.Value
		}
	}
	return apiVersion, kind, nil
}

func checkEncoding(encoding []byte) error {
	if len(encoding) == 0 {
		return nil
	}
	return fmt.Errorf("%w: the object has the unknown encoding %q", ErrMalformed, encoding)
}

func errNoPrefix(data []byte) error {
	return fmt.Errorf("%w: the object begins with %q, want %q as in Kubernetes' protobuf", ErrMalformed, data, protoPrefix)
}

func parseEvent(raw []byte) (typ string, e envelope, err error) {
	var rawObject []byte
	for len(raw) > 0 {
		var f protowire.Field
		if f, raw, err = protowire.Next(raw); err != nil {
			return "", e, malformedWire(err)
		}
		switch f.Tag {
		case protowire.Bytes(1):
			typ = typeName(f.Value)
		case protowire.Bytes(2):
			rawObject = f.Value
		}
	}
	if err := checkType(typ); err != nil {
		return "", e, err
	}
	var object []byte
	for len(rawObject) > 0 {
		var f protowire.Field
		if f, rawObject, err = protowire.Next(rawObject); err != nil {
			return "", e, malformedWire(err)
		}
		if f.Tag == protowire.Bytes(1) {
			object = f.Value
		}
	}
	if object == nil {
		return "", e, errNoObject(typ)
	}
	e, err = parseEnvelope(object)
	return typ, e, err
}

// protoListMeta decodes the metadata of a list. Older versions of apimachinery don't know its
// shardInfo.
func protoListMeta(raw []byte) (l listMeta, err error) {
	var meta metav1.ListMeta
	if err := malformed(meta.Unmarshal(raw)); err != nil {
		return l, err
	}
	l.ResourceVersion, l.Continue = meta.ResourceVersion, meta.Continue
	info, err := protoField(raw, 5)
	if err != nil {
		return l, err
	}
	selector, err := protoField(info, 1)
	l.ShardInfo.Selector = string(selector)
	return l, err
}

// protoField returns the last value of a field of bytes; nil for none.
func protoField(msg []byte, number int) (value []byte, err error) {
	for len(msg) > 0 {
		var f protowire.Field
		if f, msg, err = protowire.Next(msg); err != nil {
			return nil, malformedWire(err)
		}
		if f.Tag == protowire.Bytes(number) {
			value = f.Value
		}
	}
	return value, nil
}

func protoStatus(raw []byte) (metav1.Status, error) {
	e, err := parseEnvelope(raw)
	if err != nil {
		return metav1.Status{}, err
	}
	return e.status()
}

func (e envelope) status() (status metav1.Status, err error) {
	if string(e.kind) == "Status" {
		err = malformed(status.Unmarshal(e.raw))
	}
	status.APIVersion, status.Kind = string(e.apiVersion), string(e.kind)
	return status, err
}
