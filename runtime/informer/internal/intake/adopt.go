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

// shareBytes limits the memory for parts that an informer keeps to share them with later objects.
const shareBytes = 16 << 20

// adoption replaces parts of transformed objects by equal parts of cached objects, so that the
// cache holds each part once. All streams of an informer have the same adoption. Without a table it
// leaves objects as they are.
//
// If the program has changed a part shared by cached objects, those objects differ from the
// server's. From then on the adoption trusts no cached object, as a source does for its shared
// parts: every list is decoded, transformed and compared anew.
type adoption struct {
	table    *share.Table // nil without a transform, or if objects share nothing
	adopters sync.Pool    // unused at the moment
	warned   atomic.Bool  // about a changed part
}

// sharer is an *adoption behind an interface, to save compile time: a pointer in an informer would
// lead to all methods of share's types.
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
	a.table.StartRound()
	if !a.table.Intact() && a.warned.CompareAndSwap(false, true) {
		klog.FromContext(ctx).Error(nil, "A cached object has been modified, and others have the same memory; they are right again once the "+
			"server has sent them again. The mutation detector finds who does it", "informer", name)
	}
}

// arrived is called for each object from the server. paused reports whether it came after a pause.
func (a *adoption) arrived(paused bool) {
	if a.table != nil {
		a.table.BytesArrived(time.Now(), paused)
	}
}

// check compares all shared parts with their expected content, and returns intact.
func (a *adoption) check() bool { return a.table == nil || a.table.Check() }

// intact reports whether no shared part was found changed.
func (a *adoption) intact() bool { return a.table == nil || a.table.Intact() }

// adopt returns an object to keep instead of obj: an equal one that shares parts with others.
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
