// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"encoding/binary"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/internal/request"
	"github.com/informer-gen/informer-gen/server/protobuf"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

type protobufEncoding struct{}

func (protobufEncoding) single(data []byte, kind metav1.TypeMeta) ([]byte, error) {
	if isPartial(kind) {
		var err error
		if data, err = protobuf.Metadata(data); err != nil {
			return nil, err
		}
	}
	return protobuf.AppendObject(nil, kind, data), nil
}

func (protobufEncoding) list(out io.Writer, objects []*watchcache.Object, meta listMeta, kind metav1.TypeMeta) error {
	var malformed error
	items := func(yield func([]byte) bool) {
		for _, o := range objects {
			data := o.Bytes
			if isPartial(kind) {
				if data, malformed = protobuf.Metadata(data); malformed != nil {
					return
				}
			}
			if !yield(data) {
				return
			}
		}
	}
	selector := ""
	if meta.Shard != nil {
		selector = meta.Shard.Selector
	}
	err := protobuf.WriteList(out, metav1.TypeMeta{APIVersion: kind.APIVersion, Kind: kind.Kind + "List"}, meta.ListMeta, selector, items)
	if err == nil {
		err = malformed
	}
	return err
}

func (protobufEncoding) events(kind metav1.TypeMeta) (watchcache.Format, string) {
	return protobuf.Format{TypeMeta: kind, MetadataOnly: isPartial(kind)}, string(request.Protobuf) + ";stream=watch"
}

func (protobufEncoding) failure(status *metav1.Status) []byte {
	object, err := protobufStatus(status)
	if err != nil {
		return nil
	}
	event := metav1.WatchEvent{Type: string(watch.Error), Object: runtime.RawExtension{Raw: object}}
	data, err := event.Marshal()
	if err != nil {
		return nil
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), data...)
}

func protobufStatus(status *metav1.Status) ([]byte, error) {
	raw, err := status.Marshal()
	if err != nil {
		return nil, err
	}
	return protobuf.AppendObject(nil, status.TypeMeta, raw), nil
}
