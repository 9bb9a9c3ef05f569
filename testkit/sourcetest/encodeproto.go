// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"encoding/binary"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// protoEncoding writes k8s\0 and a runtime.Unknown. A watch consists of frames: a length of four
// bytes, big-endian, and a metav1.WatchEvent without the prefix.
type protoEncoding struct{}

func (protoEncoding) contentType(watch bool) string {
	if watch {
		return Protobuf + ";stream=watch"
	}
	return Protobuf
}

func (protoEncoding) object(obj runtime.Object) ([]byte, error) {
	if obj == nil {
		return envelope("", "", nil)
	}
	raw, err := marshal(obj)
	if err != nil {
		return nil, err
	}
	apiVersion, kind := obj.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
	return envelope(apiVersion, kind, raw)
}

func (protoEncoding) page(p *Page) ([]byte, error) {
	listMeta := p.meta()
	raw, err := listMeta.Marshal()
	if err != nil {
		return nil, err
	}
	list := appendField(nil, 1, raw)
	for _, item := range p.Items {
		if raw, err = marshal(item); err != nil {
			return nil, err
		}
		list = appendField(list, 2, raw)
	}
	return envelope(p.APIVersion, p.Kind, list)
}

func (e protoEncoding) event(event Event) ([]byte, error) {
	obj, err := e.object(event.Object)
	if err != nil {
		return nil, err
	}
	wire := metav1.WatchEvent{Type: event.Type, Object: runtime.RawExtension{Raw: obj}}
	raw, err := wire.Marshal()
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(raw))), raw...), err
}

type marshaler interface{ Marshal() ([]byte, error) }

func marshal(obj runtime.Object) ([]byte, error) {
	if obj == nil {
		return nil, nil
	}
	m, ok := obj.(marshaler)
	if !ok {
		return nil, fmt.Errorf("%T has no protobuf", obj)
	}
	return m.Marshal()
}

func envelope(apiVersion, kind string, content []byte) ([]byte, error) {
	unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: content}
	raw, err := unknown.Marshal()
	return append([]byte("k8s\x00"), raw...), err
}

func appendField(to []byte, number uint64, content []byte) []byte {
	to = binary.AppendUvarint(to, number<<3|2)
	to = binary.AppendUvarint(to, uint64(len(content)))
	return append(to, content...)
}
