// SPDX-License-Identifier: Apache-2.0

package protobuf

import (
	"encoding/binary"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/server/watchcache"
)

// Format is the [watchcache.Format] of protobuf messages: length-prefixed events for clients of
// application/vnd.kubernetes.protobuf;stream=watch.
type Format struct {
	// TypeMeta is the objects' type as shown to clients.
	metav1.TypeMeta
	// MetadataOnly reduces objects to their metadata, for a PartialObjectMetadata.
	MetadataOnly bool
}

// AppendEvent appends an event. It fails if needed metadata is missing, or if the object's message
// is malformed.
func (f Format) AppendEvent(dst []byte, e watchcache.Event) ([]byte, error) {
	message, err := f.message(e)
	if err != nil {
		return nil, err
	}
	envelope := headerSize(f.TypeMeta) + sizeOf(rawNumber, len(message))
	object := sizeOf(1, envelope)
	size := sizeOf(1, len(e.Type)) + sizeOf(2, object)
	dst = binary.BigEndian.AppendUint32(dst, uint32(size))
	dst = appendString(dst, 1, string(e.Type))
	dst = appendLength(appendLength(dst, 2, object), 1, envelope)
	return AppendObject(dst, f.TypeMeta, message), nil
}

func (f Format) message(e watchcache.Event) (message []byte, err error) {
	version := strconv.FormatUint(e.Version, 10)
	if e.Object == nil {
		meta := appendString(nil, versionNumber, version)
		if e.InitialEnd {
			pair := appendString(appendString(nil, 1, metav1.InitialEventsAnnotationKey), 2, "true")
			meta = appendBytes(meta, annotationsNumber, pair)
		}
		return appendBytes(nil, metadataNumber, meta), nil
	}
	message = e.Object.Bytes
	if f.MetadataOnly {
		message, err = Metadata(message)
	}
	if err == nil && e.Object.Version != e.Version {
		message, err = setVersion(message, version)
	}
	return message, err
}
