// SPDX-License-Identifier: Apache-2.0

package deltafifo_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
)

// TestPopAgainstModel compares Pop on random streams with a simple model: for each key, the
// sequence of its deltas; full states are resolved when they end.
func TestPopAgainstModel(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	for round := range 300 {
		f := deltafifo.New(deltafifo.Options[obj]{})
		want := map[string][]string{} // by key
		got := map[string][]string{}
		alive := map[string]bool{}
		var staged []string
		replacing := false
		var script []string
		do := func(word string) { script = append(script, word); feed(t, f, word) }
		for n := range 40 {
			name := string(rune('a' + rng.IntN(4)))
			switch word := fmt.Sprintf("%s@%d", name, n); rng.IntN(6) {
			case 0:
				if !replacing {
					do("[")
					replacing, staged = true, nil
				} else if rng.IntN(4) == 0 {
					do("!")
					replacing = false
				} else {
					do("]@" + fmt.Sprint(n))
					replacing = false
					for _, key := range []string{"a", "b", "c", "d"} {
						if alive[key] && !slices.Contains(staged, key) {
							want[key] = append(want[key], "Deleted?")
							alive[key] = false
						}
					}
					for _, key := range staged {
						want[key] = append(want[key], "Replaced")
						alive[key] = true
					}
				}
			default:
				if replacing {
					do("=" + word)
					staged = append(staged, name)
				} else if alive[name] && rng.IntN(2) == 0 {
					do("-" + word)
					want[name] = append(want[name], "Deleted")
					alive[name] = false
				} else if alive[name] {
					do("~" + word)
					want[name] = append(want[name], "Modified")
				} else {
					do("+" + word)
					want[name] = append(want[name], "Added")
					alive[name] = true
				}
			}
		}
		for _, line := range popAll(t, f) {
			for each := range strings.SplitSeq(line, ", ") {
				what, name, _ := strings.Cut(each, " ")
				name, _, _ = strings.Cut(name, "@")
				got[name] = append(got[name], what)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d round %d: %s\n%s", seed, round, strings.Join(script, " "), diff)
		}
	}
}
