// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// scheme is what apimachinery's own serializers know.
var scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	corev1.AddToScheme(s)
	metav1.AddMetaToScheme(s)
	return s
}()

func serializer(f Format) runtime.Serializer {
	switch f {
	case Protobuf:
		return protobuf.NewSerializer(scheme, scheme)
	case CBOR:
		return cbor.NewSerializer(scheme, scheme)
	}
	panic("not for JSON")
}

// encode writes an object as an API server does it. Its kind must be set.
func encode(t testing.TB, f Format, obj runtime.Object) []byte {
	t.Helper()
	var buf bytes.Buffer
	var err error
	if f == JSON {
		err = json.NewEncoder(&buf).Encode(obj)
	} else {
		err = serializer(f).Encode(obj, &buf)
	}
	if err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// encodeEvent writes an event of a watch as an API server does it.
func encodeEvent(t testing.TB, f Format, typ string, obj runtime.Object) []byte {
	t.Helper()
	event := &metav1.WatchEvent{Type: typ, Object: runtime.RawExtension{Raw: encode(t, f, obj)}}
	if f != Protobuf {
		return encode(t, f, event)
	}
	raw, err := event.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(raw))), raw...)
}

// transcodeList writes a list of Pods, given in JSON, in another format.
func transcodeList(t testing.TB, text []byte, f Format) []byte {
	t.Helper()
	var list corev1.PodList
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	return encode(t, f, &list)
}
