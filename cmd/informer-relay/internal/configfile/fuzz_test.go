// SPDX-License-Identifier: Apache-2.0

package configfile

import (
	"io"
	"reflect"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// keysByType are the keys of each struct of a configuration.
var keysByType = [][]string{
	keysOf(reflect.TypeFor[Config]()), keysOf(reflect.TypeFor[Listen]()), keysOf(reflect.TypeFor[Access]()), keysOf(reflect.TypeFor[Caller]()),
	keysOf(reflect.TypeFor[Resource]()), keysOf(reflect.TypeFor[History]()), keysOf(reflect.TypeFor[Limits]()), keysOf(reflect.TypeFor[Shutdown]()),
}

// FuzzParse shows that Parse of any file returns a configuration that can be described, or an
// error.
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
			t.Fatalf("Parse() = %v, %v; want one of them", c, err)
		}
		if err == nil {
			if err := c.Describe(io.Discard); err != nil {
				t.Error(err)
			}
		}
	})
}
