// SPDX-License-Identifier: Apache-2.0

package jsondec

import (
	"encoding/json"
	"reflect"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/dropped"
	"github.com/informer-gen/informer-gen/runtime/internal/gotype"
	"github.com/informer-gen/informer-gen/runtime/internal/share"
)

// TestStructsAreCompiledOnDemand decodes types with common structs in several goroutines. A struct
// is compiled for the first object that has it, once for all types.
func TestStructsAreCompiledOnDemand(t *testing.T) {
	set := &appsv1.StatefulSet{}
	set.Name = "web"
	set.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main"}}
	daemons := &appsv1.DaemonSet{ObjectMeta: set.ObjectMeta}
	daemons.Spec.Template = set.Spec.Template
	var c compiler
	var group sync.WaitGroup
	for _, obj := range []any{set, daemons, set, daemons} {
		group.Go(func() {
			typ := reflect.TypeOf(obj).Elem()
			data, err := json.Marshal(obj)
			if err != nil {
				t.Error(err)
				return
			}
			p, err := c.program(typ, dropped.Parts{ManagedFields: true})
			if err != nil {
				t.Error(err)
				return
			}
			d := p.NewDecoder(share.New(1<<20), true)
			for range 3 {
				got := reflect.New(typ).Interface()
				if _, ok := d.Decode(data, got); !ok || !reflect.DeepEqual(got, obj) {
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
		if got := c.object(gotype.Of(typ)).members != nil; got != want {
			t.Errorf("%v is compiled: %v, want %v", typ, got, want)
		}
	}
}
