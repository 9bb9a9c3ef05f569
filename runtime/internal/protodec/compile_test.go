// SPDX-License-Identifier: Apache-2.0

package protodec

import (
	"encoding/binary"
	"reflect"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/dropped"
	"github.com/informer-gen/informer-gen/runtime/internal/gotype"
	"github.com/informer-gen/informer-gen/runtime/internal/layout"
	"github.com/informer-gen/informer-gen/runtime/internal/share"
)

// TestStructsAreCompiledOnDemand decodes types with common structs in several goroutines. A struct
// is compiled for the first object that has it, once for all types.
func TestStructsAreCompiledOnDemand(t *testing.T) {
	set := &appsv1.ReplicaSet{}
	set.Name = "web"
	set.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main"}}
	daemons := &appsv1.DaemonSet{ObjectMeta: set.ObjectMeta}
	daemons.Spec.Template = set.Spec.Template
	c := compiler{trusted: func(pkg string) bool { return strings.HasPrefix(pkg, "k8s.io/") }}
	var group sync.WaitGroup
	for _, obj := range []protoMessage{set, daemons, set, daemons} {
		group.Go(func() {
			typ := reflect.TypeOf(obj).Elem()
			p, err := c.program(typ, dropped.Parts{ManagedFields: true})
			if err != nil {
				t.Error(err)
				return
			}
			data, err := obj.Marshal()
			if err != nil {
				t.Error(err)
				return
			}
			d := p.NewDecoder(share.New(1<<20), true)
			for range 3 {
				got := reflect.New(typ)
				if !d.Decode(data, got.UnsafePointer()) || !reflect.DeepEqual(got.Interface(), obj) {
					t.Errorf("Decode = %+v, want %+v", got, obj)
				}
			}
		})
	}
	group.Wait()
	for typ, want := range map[reflect.Type]bool{
		reflect.TypeFor[corev1.PodSpec](): true, reflect.TypeFor[corev1.Container](): true,
		reflect.TypeFor[corev1.Probe](): false, reflect.TypeFor[corev1.Affinity](): false,
	} {
		if got := c.message(gotype.Of(typ)).compiled.Load() != nil; got != want {
			t.Errorf("%v is compiled: %v, want %v", typ, got, want)
		}
	}
}

// undecodable has an undecodable field; host may contain an odd.
type undecodable struct {
	Map map[int32]string `protobuf:"bytes,1,rep,name=map"`
}

type host struct {
	Name string       `protobuf:"bytes,1,opt,name=name"`
	Odd  *undecodable `protobuf:"bytes,2,opt,name=odd"`
}

func (*undecodable) Unmarshal([]byte) error { return nil }
func (*host) Unmarshal([]byte) error        { return nil }

// TestUndecodableFieldsAreDeclined decodes objects without and with an undecodable field.
func TestUndecodableFieldsAreDeclined(t *testing.T) {
	p, err := anyPackage.program(reflect.TypeFor[host](), dropped.Parts{})
	if err != nil {
		t.Fatal(err)
	}
	d := p.NewDecoder(nil, false)
	data := []byte("\x0a\x01a")
	for range 2 {
		got := &host{}
		if !d.Decode(data, layout.Of(got)) || got.Name != "a" {
			t.Errorf("Decode = %+v, want name a", got)
		}
		if d.Decode(append(binary.AppendUvarint(data, 2<<3|2), 0), layout.Of(&host{})) {
			t.Error("Decode accepts an object with an undecodable field")
		}
	}
}
