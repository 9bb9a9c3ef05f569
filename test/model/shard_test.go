// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/sharding"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/source"
)

// wholeList answers every request with the same list, and ignores the shard.
type wholeList []byte

// RoundTrip implements http.RoundTripper.
func (l wholeList) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(l)),
	}, nil
}

// TestShardMatchesServer compares a source's choice of its shard with the function of API servers.
func TestShardMatchesServer(t *testing.T) {
	objects := map[string]*corev1.ConfigMap{}
	var items [][]byte
	for range 1000 {
		obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprint(rand.Uint64()), Namespace: fmt.Sprint(rand.Uint32()), UID: types.UID(fmt.Sprint(rand.Uint64())), ResourceVersion: "1",
		}}
		objects[obj.Name] = obj
		items = append(items, encode(withKind(obj)))
	}
	list := fmt.Sprintf(`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[%s]}`, bytes.Join(items, []byte(",")))
	client, err := source.NewClient(&rest.Config{Host: "http://server", Transport: wholeList(list)})
	if err != nil {
		t.Fatal(err)
	}
	const byUID, byNamespace = "object.metadata.uid", "object.metadata.namespace"
	for _, ranges := range [][]sharding.ShardRangeRequirement{
		{{Key: byUID, Start: "0x0000000000000000", End: "0x8000000000000000"}},
		{{Key: byUID, Start: "0x8000000000000000", End: "0x10000000000000000"}},
		{{Key: byUID, Start: "0x4000000000000000", End: "0x5000000000000000"}, {Key: byUID, Start: "0xc000000000000000", End: "0xffffffffffffffff"}},
		{{Key: byNamespace, Start: "0x0000000000000000", End: "0x8000000000000000"}},
	} {
		theirs := sharding.NewSelector(ranges...)
		s, err := source.New[*corev1.ConfigMap](client, corev1.SchemeGroupVersion.WithResource("configmaps"), source.Options{ShardSelector: theirs.String()})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		result, err := s.List(t.Context(), source.ListOptions{}, func(obj *corev1.ConfigMap) error {
			got[obj.Name] = true
			return nil
		})
		if err != nil || len(got) == 0 || len(got)+result.Skipped != len(objects) {
			t.Fatalf("%s: %d objects, %+v, %v", theirs, len(got), result, err)
		}
		for name, obj := range objects {
			want, err := theirs.Matches(obj)
			if err != nil {
				t.Fatal(err)
			}
			if got[name] != want {
				t.Errorf("%s: %s, %s: got %v, want %v", theirs, obj.UID, obj.Namespace, got[name], want)
			}
		}
	}
}
