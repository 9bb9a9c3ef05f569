// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// recorder is a Sink that notes its calls and keeps the objects, as a store would.
type recorder struct {
	fails map[string]error // set once at construction

	// mu guards the fields below.
	mu     sync.Mutex
	calls  []string
	things map[string]string // versions by name
	staged map[string]string // nil outside of a replace
}

func (r *recorder) note(format string, args ...any) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := fmt.Sprintf(format, args...)
	r.calls = append(r.calls, s)
	return r.fails[s]
}

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.calls, ", ")
}

// change changes the objects.
func (r *recorder) change(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

// set keeps an object, or removes it if version is "".
func (r *recorder) set(name, version string) {
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
func (r *recorder) content() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	for name, version := range r.things {
		all = append(all, name+"@"+version)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func (r *recorder) BeginReplace() error {
	r.change(func() { r.staged = map[string]string{} })
	return r.note("begin")
}

func (r *recorder) Replace(o thing) error {
	r.set(o.Name, o.ResourceVersion)
	return r.note("replace %s", o.Name)
}

func (r *recorder) EndReplace(version string) error {
	r.change(func() { r.things, r.staged = r.staged, nil })
	return r.note("end %s", version)
}

func (r *recorder) AbortReplace() error {
	r.change(func() { r.staged = nil })
	return r.note("abort")
}

func (r *recorder) Add(o thing) error {
	r.set(o.Name, o.ResourceVersion)
	return r.note("add %s", o.Name)
}

func (r *recorder) Update(o thing) error {
	r.set(o.Name, o.ResourceVersion)
	return r.note("update %s", o.Name)
}

func (r *recorder) Delete(o thing) error {
	r.set(o.Name, "")
	return r.note("delete %s", o.Name)
}

func (r *recorder) Bookmark(version string) error { return r.note("bookmark %s", version) }
