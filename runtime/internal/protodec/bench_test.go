// SPDX-License-Identifier: Apache-2.0

package protodec

import (
	"bytes"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/dropped"
	"github.com/informer-gen/informer-gen/runtime/internal/layout"
	"github.com/informer-gen/informer-gen/runtime/internal/share"
)

// benchWays are ways to decode Pods, besides the generated method.
var benchWays = []struct {
	name  string
	table func() *share.Table
	parts bool
}{
	{"alone", func() *share.Table { return nil }, false},
	{"strings", func() *share.Table { return share.New(0) }, false},
	{"shared", func() *share.Table { return share.New(4 << 20) }, true},
}

// BenchmarkDecode decodes Pods without managedFields, of workloads and with unique strings.
func BenchmarkDecode(b *testing.B) {
	for name, distinct := range map[string]bool{"workloads": false, "distinct": true} {
		pods := podsOf(b, 4000, distinct)
		size := int64(len(bytes.Join(pods, nil)) / len(pods))
		run := func(way string, decode func([]byte) bool) {
			b.Run(name+"/"+way, func(b *testing.B) {
				b.SetBytes(size)
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if !decode(pods[i%len(pods)]) {
						b.Fatal("declined")
					}
				}
			})
		}
		run("generated", func(data []byte) bool {
			pod := &corev1.Pod{}
			err := pod.Unmarshal(data)
			pod.ManagedFields = nil
			return err == nil
		})
		p, err := New(reflect.TypeFor[corev1.Pod](), dropped.Parts{ManagedFields: true})
		if err != nil {
			b.Fatal(err)
		}
		for _, way := range benchWays {
			d := p.NewDecoder(way.table(), way.parts)
			run(way.name, func(data []byte) bool { return d.Decode(data, layout.Of(&corev1.Pod{})) })
		}
	}
}
