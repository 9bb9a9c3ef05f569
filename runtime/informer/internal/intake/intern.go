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

// partInterner replaces parts of transformed objects by equal parts of cached objects, so that the
// cache holds each part once. All streams of an informer share one. Without a table it leaves
// objects as they are.
//
// If the program has changed a part shared by cached objects, those objects differ from the
// server's. From then on the interner trusts no cached object, as a source does for its shared
// parts: every list is decoded, transformed and compared anew.
type partInterner struct {
	table    *share.Table // nil without a transform, or if objects share nothing
	adopters sync.Pool    // unused at the moment
	warned   atomic.Bool  // about a changed part
}

// interner is a *partInterner behind an interface, to save compile time: a pointer in an informer
// would lead to all methods of share's types.
type interner interface {
	begin(ctx context.Context, name string)
	arrived(paused bool)
	check() bool
	intact() bool
	intern(obj object.Object) object.Object
}

func newInterner(config *Config) *partInterner {
	if config.Transform == nil || config.Unshared {
		return &partInterner{}
	}
	return &partInterner{table: share.New(shareBytes)}
}

// begin is called before each list and each watch of a stream.
func (p *partInterner) begin(ctx context.Context, name string) {
	if p.table == nil {
		return
	}
	p.table.StartRound()
	if !p.table.Intact() && p.warned.CompareAndSwap(false, true) {
		klog.FromContext(ctx).Error(nil, "The program has modified a cached object; others share its memory, and are wrong until the server "+
			"sends them again. Find the code by WithMutationDetector", "informer", name)
	}
}

// arrived is called for each object from the server. paused reports whether it came after a pause.
func (p *partInterner) arrived(paused bool) {
	if p.table != nil {
		p.table.BytesArrived(time.Now(), paused)
	}
}

// check compares all shared parts with their expected content, and returns intact.
func (p *partInterner) check() bool { return p.table == nil || p.table.Check() }

// intact reports whether no shared part was found changed.
func (p *partInterner) intact() bool { return p.table == nil || p.table.Intact() }

// intern returns an object to keep instead of obj: an equal one that shares parts with others.
func (p *partInterner) intern(obj object.Object) object.Object {
	v := reflect.ValueOf(obj)
	if p.table == nil || v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return obj
	}
	program := adopt.ProgramOf(v.Type().Elem())
	adopter, _ := p.adopters.Get().(*adopt.Adopter)
	if adopter == nil || !adopter.Is(program) {
		adopter = program.NewAdopter(p.table)
	}
	adopted := adopter.Adopt(v.UnsafePointer())
	p.adopters.Put(adopter)
	if adopted == nil {
		return obj
	}
	return reflect.NewAt(v.Type().Elem(), adopted).Interface().(object.Object)
}
