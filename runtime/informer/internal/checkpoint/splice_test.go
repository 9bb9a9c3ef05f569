// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// TestHalfOfAnotherFile is refused, wherever the second half begins: a copy in place that was cut
// off, or a disk that has lost blocks of a new file, leaves such files. The sections of both begin
// at the same places, as they do if objects have changed to others of the same size.
func TestHalfOfAnotherFile(t *testing.T) {
	f, all := newFile(Config{Dir: t.TempDir()}), pods(6)
	for _, obj := range all {
		obj.(*corev1.Pod).Annotations = map[string]string{"note": strings.Repeat(obj.GetName(), sectionSize/8)}
	}
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
	var begins []int // of the sections but the first
	for at := len(magic); at < len(states[0]); {
		at += headerSize + int(binary.LittleEndian.Uint32(states[0][at+1:]))
		begins = append(begins, at)
	}
	begins = begins[:len(begins)-1]
	if len(states[0]) != len(states[1]) || len(begins) < 4 {
		t.Fatalf("files of %d and %d bytes, %d sections", len(states[0]), len(states[1]), 1+len(begins))
	}
	for _, at := range begins {
		mixed := append(append([]byte(nil), states[1][:at]...), states[0][at:]...)
		if err := os.WriteFile(f.Path(), mixed, 0o600); err != nil {
			t.Fatal(err)
		}
		var versions []string
		if state, err := f.Read(func(obj object.Object) error {
			versions = append(versions, obj.GetResourceVersion())
			return nil
		}); err == nil {
			t.Errorf("with the older file from byte %d on, it has objects of %v at %s", at, versions, state.ResourceVersion)
		}
	}
}
