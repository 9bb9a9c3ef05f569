// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestConcurrentProcesses has several Files of one path write and read at once. Each Read returns
// the objects of one Write, at a version that the same File has written for these objects.
func TestConcurrentProcesses(t *testing.T) {
	c := Config{Dir: t.TempDir(), Name: "pods"}
	var wg sync.WaitGroup
	for process := range 3 {
		f := newFile(c)
		wg.Go(func() {
			for i := range 25 {
				all := pods(1 + i%3)
				for _, obj := range all {
					obj.SetResourceVersion(fmt.Sprint(process, "-", i))
				}
				state := State{ResourceVersion: fmt.Sprint(process, "-", i), Objects: len(all)}
				if _, err := f.Write(state, slices.Values(all)); err != nil {
					t.Error(err)
				}
				for range 2 {
					state.ResourceVersion += "+"
					if _, err := f.Advance(state); err != nil {
						t.Error(err)
					}
				}
				objects, state, err := read(newFile(c))
				if err != nil {
					t.Error(err)
				}
				for _, obj := range objects {
					if obj.GetResourceVersion() != strings.TrimRight(state.ResourceVersion, "+") {
						t.Errorf("Read() = an object of %s at version %s", obj.GetResourceVersion(), state.ResourceVersion)
					}
				}
			}
		})
	}
	wg.Wait()
}
