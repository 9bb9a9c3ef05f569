// SPDX-License-Identifier: Apache-2.0

package buildcache

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/informer-gen/informer-gen/generator"
	"github.com/informer-gen/informer-gen/generator/output"
)

// TestCacheIsRightAboutRandomChanges makes random changes, and whenever nothing is said to have
// changed compares with a run that does all of its work.
func TestCacheIsRightAboutRandomChanges(t *testing.T) {
	main, cfg := newProject(t)
	rounds := 20
	if testing.Short() {
		rounds = 10
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	names := []string{
		"api/v1/types.go", "api/v1/doc.go", "api/v1/new.go", "api/v1/types_test.go", "api/v1/types_plan9.go", "api/v2/types.go",
		"common/name.go", "unused/unused.go", "../lib/lib.go", "informer-gen.yaml", "hack/header.txt", "crds/widgets.yaml",
		"generated/informers/factory.go", "generated/listers/example/v1/widget.go", "generated/informers/extra.go", "generated/extra.go", "go.mod",
	}
	edits := []func(was string) string{
		func(was string) string { return was },
		func(was string) string { return was + "\n// more\n" },
		func(was string) string { return strings.Replace(was, "// more\n", "", 1) },
		func(was string) string { return strings.Replace(was, "string", "int", 1) },
		func(was string) string { return strings.Replace(was, "int", "string", 1) },
		func(was string) string { return strings.ReplaceAll(was, "ByNode", "ByHost") },
		func(was string) string { return strings.ReplaceAll(was, "Copyright", "Copyleft") },
		func(string) string { return "" }, // no file
	}
	original := tree(t, filepath.Dir(main))
	upToDate := 0
	for round := 0; round < rounds || upToDate == 0 && round < 10*rounds; round++ {
		for range random.IntN(3) {
			name := filepath.Join(main, names[random.IntN(len(names))])
			was, _ := os.ReadFile(name)
			text := edits[random.IntN(len(edits))](string(was))
			if text == "" {
				_ = os.Remove(name)
				continue
			}
			writeFile(t, name, text)
		}
		cache := Open(cfg)
		known := cache.UpToDate()
		files, err := generator.Generate(t.Context(), cfg)
		if known {
			upToDate++
			if err != nil {
				t.Fatalf("said to be up to date, but: %v", err)
			}
			if changes, err := files.Diff(); err != nil || len(changes) > 0 {
				t.Fatalf("said to be up to date, but: %v\n%s", err, output.Unified(changes))
			}
			continue
		}
		if err == nil {
			_, err = files.Write() // a file without our header may be in the way
		}
		if err != nil { // begin again from what works
			for name, content := range original {
				if !strings.HasSuffix(name, "/") {
					writeFile(t, filepath.Join(filepath.Dir(main), name), content)
				}
			}
			for _, name := range names {
				if _, ok := original[filepath.ToSlash(filepath.Join("main", name))]; !ok {
					_ = os.Remove(filepath.Join(main, name))
				}
			}
			continue
		}
		cache.Keep(files)
	}
	if upToDate == 0 {
		t.Error("never up to date")
	}
}
