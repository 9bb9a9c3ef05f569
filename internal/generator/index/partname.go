// SPDX-License-Identifier: Apache-2.0

package index

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/informer-gen/informer-gen/internal/generator/names"
)

// partNames names the parts of a composite key: by the last word of each path, preceded by as many
// words as it takes to make the names unique. Paths of the same words are numbered.
func partNames(paths []followedPath) []string {
	parts := make([]string, len(paths))
	words := make([]int, len(paths)) // number of words used, by path
	for longer := true; longer; {
		longer = false
		called := map[string][]int{}
		for i, p := range paths {
			for words[i] == 0 || words[i] < len(p.words) && !names.IsExported(parts[i]) {
				words[i]++
				parts[i] = strings.Join(p.words[len(p.words)-words[i]:], "")
			}
			called[parts[i]] = append(called[parts[i]], i)
		}
		for _, same := range called {
			first := paths[same[0]].words
			if !slices.ContainsFunc(same, func(i int) bool { return !slices.Equal(paths[i].words, first) }) {
				continue
			}
			for _, i := range same {
				if words[i] < len(paths[i].words) {
					words[i]++
					parts[i] = strings.Join(paths[i].words[len(paths[i].words)-words[i]:], "")
					longer = true
				}
			}
		}
	}
	return numbered(parts)
}

func numbered(parts []string) []string {
	taken := map[string]bool{}
	for _, name := range parts {
		taken[name] = true
	}
	seen := map[string]bool{}
	for i, name := range parts {
		if seen[name] {
			for n := 2; taken[parts[i]]; n++ {
				parts[i] = name + strconv.Itoa(n)
			}
			taken[parts[i]] = true
		}
		seen[name] = true
	}
	return parts
}

// entryWords returns the words for a map entry's name in Go: AppKubernetesIo and Name for
// app.kubernetes.io/name.
func entryWords(key string) []string {
	var words []string
	for part := range strings.SplitSeq(key, "/") {
		var word strings.Builder
		for w := range strings.FieldsFuncSeq(part, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			word.WriteString(names.UpperFirst(w))
		}
		if word.Len() > 0 {
			words = append(words, word.String())
		}
	}
	return words
}
