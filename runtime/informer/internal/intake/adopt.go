// SPDX-License-Identifier: Apache-2.0

package intake

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

// shareBytes bounds the memory of the parts that an informer keeps of transformed objects, to share
// them with objects that come later.
const shareBytes = 16 << 20

// adoption replaces the parts of transformed objects by equal parts that cached objects have
// already, so that the cache holds each of them once. All streams of an informer have the same
// adoption. One without a table leaves objects as they are.
//
// If the program has changed a part that cached objects share, those objects differ from what the
// server has sent. From then on the adoption trusts no cached object, as a source does for the
// parts that it shares: every list is decoded, transformed and compared anew.
type adoption struct {
	table    *share.Table // nil without a transform, or if objects share nothing
	adopters sync.Pool    // those that no stream uses at the moment
	warned   atomic.Bool  // that a part was changed
}

// sharer is an *adoption behind an interface: each package of generated code compiles what it
// reaches by the fields of an informer, and a pointer would lead to all methods of share's types.
type sharer interface {
	begin(ctx context.Context, name string)
	arrived(paused bool)
	check() bool
	intact() bool
	adopt(obj object.Object) object.Object
}

func newAdoption(config *Config) *adoption {
	if config.Transform == nil || config.Unshared {
		return &adoption{}
	}
	return &adoption{table: share.New(shareBytes)}
}

// begin is called before each list and each watch of a stream.
func (a *adoption) begin(ctx context.Context, name string) {
	if a.table == nil {
		return
	}
	a.table.Round()
	if !a.table.Intact() && a.warned.CompareAndSwap(false, true) {
		klog.FromContext(ctx).Error(nil, "A cached object has been modified, and others have the same memory; they are right again once the "+
			"server has sent them again. The mutation detector finds who does it", "informer", name)
	}
}

// arrived is called for each object that comes from the server. paused reports whether it came
// after a pause.
func (a *adoption) arrived(paused bool) {
	if a.table != nil {
		a.table.Arrived(time.Now(), paused)
	}
}

// check compares all shared parts with what they should be, and returns intact.
func (a *adoption) check() bool { return a.table == nil || a.table.Check() }

// intact reports whether no shared part was found to be changed.
func (a *adoption) intact() bool { return a.table == nil || a.table.Intact() }

// adopt returns the object to keep in place of obj: an equal one that shares parts with others.
func (a *adoption) adopt(obj object.Object) object.Object {
	v := reflect.ValueOf(obj)
	if a.table == nil || v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
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
