// SPDX-License-Identifier: Apache-2.0

package configfile

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "write the outcomes into testdata")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestParse reads the files in testdata. Each has a configuration, and its description or errors.
func TestParse(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no testdata", err)
	}
	wrong := 0
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		if strings.HasPrefix(name, "wrong_") {
			wrong++
		}
		t.Run(name, func(t *testing.T) {
			got := outcome(t, archive.Files[0].Data, strings.HasPrefix(name, "wrong_"))
			if *update {
				archive.Files = []txtar.File{archive.Files[0], {Name: "outcome", Data: []byte(got)}}
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(archive.Files[1].Data), got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
	if 2*wrong < len(files) {
		t.Errorf("%d of %d files are errors, want at least half", wrong, len(files))
	}
}

// outcome returns a configuration's errors, or the description of a valid one.
func outcome(t *testing.T, data []byte, wrong bool) string {
	t.Helper()
	c, err := Parse("relay.yaml", data)
	if (err != nil) != wrong {
		t.Errorf("Parse returned the error %v, want an error: %v", err, wrong)
	}
	if err != nil {
		return err.Error() + "\n"
	}
	var b bytes.Buffer
	if err := c.Describe(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestGoldensHaveEveryKey finds keys missing in the valid files of testdata.
func TestGoldensHaveEveryKey(t *testing.T) {
	missing := map[string]bool{}
	for _, keys := range keysByType {
		for _, key := range keys {
			missing[key] = true
		}
	}
	files, err := filepath.Glob("testdata/[^w]*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for key := range maps.Keys(missing) {
			if bytes.Contains(archive.Files[0].Data, []byte(key+":")) {
				delete(missing, key)
			}
		}
	}
	if len(missing) > 0 {
		t.Errorf("no valid file has the keys %q", slices.Sorted(maps.Keys(missing)))
	}
}
