// SPDX-License-Identifier: Apache-2.0

package podtest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

var scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	corev1.AddToScheme(s)
	metav1.AddMetaToScheme(s)
	return s
}()

// ProtobufSerializer is apimachinery's own.
var ProtobufSerializer = protobuf.NewSerializer(scheme, scheme)

// Encode writes an object as an API server does. Its kind must be set.
func Encode(t testing.TB, f fmt.Stringer, obj runtime.Object) []byte {
	t.Helper()
	var buf bytes.Buffer
	var err error
	if f.String() == "JSON" {
		err = json.NewEncoder(&buf).Encode(obj)
	} else {
		err = ProtobufSerializer.Encode(obj, &buf)
	}
	if err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// EncodeEvent writes an event of a watch as an API server does.
func EncodeEvent(t testing.TB, f fmt.Stringer, typ string, obj runtime.Object) []byte {
	t.Helper()
	event := &metav1.WatchEvent{Type: typ, Object: runtime.RawExtension{Raw: Encode(t, f, obj)}}
	if f.String() != "protobuf" {
		return Encode(t, f, event)
	}
	raw, err := event.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(raw))), raw...)
}

// Transcode writes a list of Pods, given in JSON, in another format.
func Transcode(t testing.TB, text []byte, f fmt.Stringer) []byte {
	t.Helper()
	var list corev1.PodList
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	return Encode(t, f, &list)
}

// DecodeList decodes a whole list as apimachinery does.
func DecodeList(t testing.TB, f fmt.Stringer, body []byte) []corev1.Pod {
	t.Helper()
	var list corev1.PodList
	var err error
	if f.String() == "JSON" {
		err = json.Unmarshal(body, &list)
	} else {
		_, _, err = ProtobufSerializer.Decode(body, nil, &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}
