// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/internal/adopt"
	"github.com/informer-gen/informer-gen/runtime/internal/share"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// shareBytes bounds what an informer keeps of parts of transformed objects, to be shared with those
// that come.
const shareBytes = 16 << 20

// adoption makes transformed objects into those of the cache. It is one for all streams of an
// informer. nil leaves objects as they are.
//
// If a program has changed a part that cached objects share, these are not what the server has
// sent. As a source does for the parts that it shares, it trusts nothing of what the informer has
// then and ever after: all is read, transformed and compared anew.
type adoption struct {
	table    *share.Table
	adopters sync.Pool   // those that no stream uses at the moment
	warned   atomic.Bool // that a part was changed
}

func newAdoption() *adoption { return &adoption{table: share.New(shareBytes)} }

// begin is called before a stream reads from its source.
func (a *adoption) begin(ctx context.Context, name string) {
	if a == nil {
		return
	}
	a.table.Round()
	if !a.table.Intact() && a.warned.CompareAndSwap(false, true) {
		klog.FromContext(ctx).Error(nil, "A cached object has been modified, and others have the same memory; they are right again once the "+
			"server has sent them again. The mutation detector finds who does it", "informer", name)
	}
}

// arrived is called with each object that comes from the server, after a pause or not.
func (a *adoption) arrived(paused bool) {
	if a != nil {
		a.table.Arrived(time.Now(), paused)
	}
}

// check compares all that cached objects share with what it should be, and returns intact.
func (a *adoption) check() bool { return a == nil || a.table.Check() }

// intact reports whether nothing that cached objects share was found to be changed.
func (a *adoption) intact() bool { return a == nil || a.table.Intact() }

// adopt returns what to keep in the place of obj: an equal object that shares parts with others.
func (a *adoption) adopt(obj object.Object) object.Object {
	v := reflect.ValueOf(obj)
	if a == nil || v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return obj
	}
	program := adopt.ProgramOf(v.Type().Elem())
	adopter, _ := a.adopters.Get().(*adopt.Adopter)
	if adopter == nil || !adopter.Is(program) {
		adopter = program.NewAdopter(a.table)
	}
	p := adopter.Adopt(v.UnsafePointer())
	a.adopters.Put(adopter)
	if p == nil {
		return obj
	}
	return reflect.NewAt(v.Type().Elem(), p).Interface().(object.Object)
}
