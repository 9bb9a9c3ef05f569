// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestSeveralProcessesAtOnePath write and read without order: whoever reads gets the objects of one
// of them, at a version that the same process has written for these objects.
func TestSeveralProcessesAtOnePath(t *testing.T) {
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
						t.Errorf("%s at %s", obj.GetResourceVersion(), state.ResourceVersion)
					}
				}
			}
		})
	}
	wg.Wait()
}
