// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"fmt"
	"os"
	"testing"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// TestReadRefusesSplicedFiles joins the beginning of one file with the rest of another, at every
// byte. An interrupted copy in place, or a disk that has lost blocks of a new file, leaves such
// files. The objects of both have the same sizes, so the parts fit.
func TestReadRefusesSplicedFiles(t *testing.T) {
	f, all := newFile(Config{Dir: t.TempDir()}), pods(6)
	states := [2][]byte{}
	for i := range states {
		for _, obj := range all {
			obj.SetResourceVersion(fmt.Sprint(10 + i))
		}
		write(t, f, fmt.Sprint(20+i), all)
		var err error
		if states[i], err = os.ReadFile(f.Path()); err != nil {
			t.Fatal(err)
		}
	}
	if len(states[0]) != len(states[1]) {
		t.Fatalf("files of %d and %d bytes", len(states[0]), len(states[1]))
	}
	for at := len(magic) + len(f.identity) + 1; at < len(states[0]); at++ {
		mixed := append(append([]byte(nil), states[1][:at]...), states[0][at:]...)
		if err := os.WriteFile(f.Path(), mixed, 0o600); err != nil {
			t.Fatal(err)
		}
		var versions []string
		if state, err := f.Read(func(obj object.Object) error {
			versions = append(versions, obj.GetResourceVersion())
			return nil
		}); err == nil {
			t.Errorf("Read() of the older file from byte %d on = objects of %v at %s, want an error", at, versions, state.ResourceVersion)
		}
	}
}
