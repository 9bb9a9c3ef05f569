// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// record is a Sink that notes its calls, and keeps the objects that a store would have.
type record struct {
	fails map[string]error // set once at construction

	// mu guards what follows.
	mu     sync.Mutex
	told   []string
	things map[string]string // versions by name
	staged map[string]string // nil outside of a replace
}

func (r *record) note(format string, args ...any) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := fmt.Sprintf(format, args...)
	r.told = append(r.told, s)
	return r.fails[s]
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.told, ", ")
}

// change changes the objects.
func (r *record) change(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

// set keeps an object, or takes it out if version is "".
func (r *record) set(name, version string) {
	r.change(func() {
		things := r.things
		if r.staged != nil {
			things = r.staged
		} else if things == nil {
			r.things = map[string]string{}
			things = r.things
		}
		if version == "" {
			delete(things, name)
		} else {
			things[name] = version
		}
	})
}

// content returns the objects, like "a@1 b@2".
func (r *record) content() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	for name, version := range r.things {
		all = append(all, name+"@"+version)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func (r *record) BeginReplace() error {
	r.change(func() { r.staged = map[string]string{} })
	return r.note("begin")
}

func (r *record) Replace(o thing) error {
	r.set(o.Name, o.ResourceVersion)
	return r.note("replace %s", o.Name)
}

func (r *record) EndReplace(version string) error {
	r.change(func() { r.things, r.staged = r.staged, nil })
	return r.note("end %s", version)
}

func (r *record) AbortReplace() error {
	r.change(func() { r.staged = nil })
	return r.note("abort")
}

func (r *record) Add(o thing) error {
	r.set(o.Name, o.ResourceVersion)
	return r.note("add %s", o.Name)
}

func (r *record) Update(o thing) error {
	r.set(o.Name, o.ResourceVersion)
	return r.note("update %s", o.Name)
}

func (r *record) Delete(o thing) error {
	r.set(o.Name, "")
	return r.note("delete %s", o.Name)
}

func (r *record) Bookmark(version string) error { return r.note("bookmark %s", version) }
