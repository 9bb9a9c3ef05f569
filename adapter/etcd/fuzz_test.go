// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"encoding/json"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// FuzzEvent: whatever another program has written to etcd, and under which key, it is an error, or
// an object of that key at etcd's revision.
func FuzzEvent(f *testing.F) {
	const key, value = "/registry/widgets/a/one", `{"metadata":{"namespace":"a","name":"one","uid":"u","resourceVersion":"7","labels":{"x":"y"}},"spec":{"node":"n"}}`
	for _, v := range []string{value, "", "null", "[]", strings.Replace(value, `"a"`, `""`, 1), strings.Replace(value, `"one"`, `"a/one"`, 1), strings.Replace(value, "7", "x", 1), value + value, "k8s\x00"} {
		f.Add([]byte(key), []byte(v), int64(9), false)
		f.Add([]byte(key), []byte(v), int64(9), true)
	}
	f.Add([]byte("/registry/widgets/"), []byte(`{"metadata":{"name":""}}`), int64(-1), false)
	f.Add([]byte("/other/a/one"), []byte(value), int64(0), false)
	s := New(nil, "/registry/widgets", "spec.node")
	f.Fuzz(func(t *testing.T, key, value []byte, revision int64, deleted bool) {
		change := &clientv3.Event{Kv: &mvccpb.KeyValue{Key: key, Value: value, ModRevision: revision}}
		if deleted {
			change.Type, change.PrevKv = mvccpb.DELETE, change.Kv
		}
		e, err := s.event(change)
		if err != nil {
			return
		}
		var got struct {
			Metadata struct{ Namespace, Name, UID, ResourceVersion string }
		}
		if err := json.Unmarshal(e.Object.Bytes, &got); err != nil {
			t.Fatalf("%q is served as %q: %v", value, e.Object.Bytes, err)
		}
		if m := got.Metadata; "/registry/widgets/"+e.Object.Key != string(key) || m.Name == "" || m.UID != e.Object.UID || e.Object.Version != uint64(revision) {
			t.Errorf("%s at %d is %s, version %d, with %+v", key, revision, e.Object.Key, e.Object.Version, m)
		}
	})
}
