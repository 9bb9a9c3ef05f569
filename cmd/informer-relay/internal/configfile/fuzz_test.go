// SPDX-License-Identifier: Apache-2.0

package configfile

import (
	"io"
	"reflect"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// structs are the keys of all parts of a configuration.
var structs = [][]string{
	keysOf(reflect.TypeFor[Config]()), keysOf(reflect.TypeFor[Listen]()), keysOf(reflect.TypeFor[Access]()), keysOf(reflect.TypeFor[Caller]()),
	keysOf(reflect.TypeFor[Resource]()), keysOf(reflect.TypeFor[History]()), keysOf(reflect.TypeFor[Limits]()), keysOf(reflect.TypeFor[Shutdown]()),
}

// FuzzParse: whatever a file has, Parse returns, with a configuration that can be described or with
// an error.
func FuzzParse(f *testing.F) {
	for _, file := range []string{"testdata/all_keys.txtar", "testdata/wrong_keys.txtar"} {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(archive.Files[0].Data)
	}
	f.Add([]byte("resources: &r [*r]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("relay.yaml", data)
		if (c == nil) == (err == nil) {
			t.Fatalf("Parse returned %v and %v", c, err)
		}
		if err == nil {
			if err := c.Describe(io.Discard); err != nil {
				t.Error(err)
			}
		}
	})
}
