// SPDX-License-Identifier: Apache-2.0

package house

import (
	"go/ast"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// givenUp are words that no identifier and no file's name has, since there is a better one.
var givenUp = map[string]string{
	"crew": "pool", "memo": "build cache", "squeeze": "strip", "squeezer": "stripper", "squeezed": "stripped",
	"rush": "burst", "lull": "quiet period", "shelf": "slot", "trail": "log",
	"nobody": "no", "somebody": "one", "anybody": "any",
}

// ambiguous are words that mean much: one package at most has an unexported type of this name.
var ambiguous = []string{"entry", "known", "left", "memory", "node", "op", "place", "span", "state", "writer"}

// TestWordsStayInTheirPackages: identifiers have no word that is given up, and words of
// CONTRIBUTING.md's glossary are declared only in the packages whose words they are.
func TestWordsStayInTheirPackages(t *testing.T) {
	glossary := glossaryOf(t)
	found := map[string][]string{} // by word or type, the packages that may not have it
	types := map[string][]string{} // by ambiguous word, the packages with such a type
	add := func(to map[string][]string, word, folder string) {
		if !slices.Contains(to[word], folder) {
			to[word] = append(to[word], folder)
		}
	}
	for folder, files := range goFiles(t) {
		for _, f := range files {
			test := strings.HasSuffix(f.path, "_test.go")
			for _, n := range declaredIn(f) {
				words := wordsOf(n.name)
				for _, word := range words {
					if givenUp[word] != "" {
						add(found, word, folder)
					}
				}
				if n.token == token.TYPE && !test && slices.Contains(ambiguous, n.name) {
					add(types, n.name, folder)
				}
				for word, homes := range glossary {
					if n.global && !test && has(words, word) && !slices.ContainsFunc(homes, func(home string) bool { return isHome(home, folder) }) {
						add(found, word, folder)
					}
				}
			}
		}
	}
	for word, folders := range types {
		if len(folders) > 1 {
			found["type "+word] = folders
		}
	}
	for _, word := range slices.Sorted(maps.Keys(found)) {
		for _, folder := range found[word] {
			t.Errorf("%s: an identifier or a file is called %s: %s", folder, word, whyNot(word, found[word], glossary))
		}
	}
}

func whyNot(word string, folders []string, glossary map[string][]string) string {
	if better := givenUp[word]; better != "" {
		return "better is " + better
	}
	if name, ok := strings.CutPrefix(word, "type "); ok {
		return "types of several packages are called " + name + ": " + strings.Join(folders, ", ")
	}
	return "it is a word of " + strings.Join(glossary[word], ", ")
}

var quoted = regexp.MustCompile("`([^`]+)`")

// glossaryOf reads the table of words in CONTRIBUTING.md: by word, the packages whose word it is.
func glossaryOf(t *testing.T) map[string][]string {
	t.Helper()
	words := map[string][]string{}
	_, section, _ := strings.Cut(string(files(t, "CONTRIBUTING.md")["CONTRIBUTING.md"]), "\n## Words\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.Contains(cells[3], "`") {
			continue
		}
		for _, home := range quoted.FindAllStringSubmatch(cells[3], -1) {
			words[strings.TrimSpace(cells[1])] = append(words[strings.TrimSpace(cells[1])], home[1])
		}
	}
	if len(words) < 10 {
		t.Fatalf("CONTRIBUTING.md has %d words in its glossary", len(words))
	}
	return words
}

// isHome reports whether a folder is that of a word: home itself, or below it if home ends in /...
func isHome(home, folder string) bool {
	below, all := strings.CutSuffix(home, "/...")
	return folder == below || all && within(folder, below)
}

// identifier is a name that a file declares, or the file's own.
type identifier struct {
	name   string
	token  token.Token
	global bool // of a type, a function or a file
}

func declaredIn(f goFile) (names []identifier) {
	base, _, _ := strings.Cut(filepath.Base(f.path), ".")
	names = append(names, identifier{base, token.IDENT, true}, identifier{path.Base(filepath.ToSlash(filepath.Dir(f.path))), token.PACKAGE, false})
	ast.Inspect(f.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			names = append(names, identifier{n.Name.Name, token.TYPE, true})
		case *ast.FuncDecl:
			names = append(names, identifier{n.Name.Name, token.FUNC, n.Recv == nil})
		case *ast.Field:
			for _, id := range n.Names {
				names = append(names, identifier{id.Name, token.VAR, false})
			}
		case *ast.ValueSpec:
			for _, id := range n.Names {
				names = append(names, identifier{id.Name, token.VAR, false})
			}
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if id, ok := left.(*ast.Ident); ok && n.Tok == token.DEFINE {
					names = append(names, identifier{id.Name, token.VAR, false})
				}
			}
		}
		return true
	})
	return names
}

var aWord = regexp.MustCompile(`[A-Z]?[a-z0-9]+|[A-Z]`)

// wordsOf splits an identifier into words of lower case; of an abbreviation, into letters.
func wordsOf(name string) (words []string) {
	for _, word := range aWord.FindAllString(name, -1) {
		words = append(words, strings.ToLower(word))
	}
	return words
}

// has reports whether the words of a name have a word of the glossary, or its plural, in them.
func has(words []string, word string) bool {
	name := " " + strings.Join(words, " ") + " "
	return strings.Contains(name, " "+word+" ") || strings.Contains(name, " "+word+"s ") ||
		strings.Contains(name, " "+strings.ReplaceAll(word, " ", "")+" ")
}

func TestWordsOfIdentifiers(t *testing.T) {
	for name, want := range map[string]string{
		"changeLog": "change log", "newURLFeed": "new u r l feed", "lease_model": "lease model", "RowSet": "row set",
	} {
		if got := strings.Join(wordsOf(name), " "); got != want {
			t.Errorf("%s has the words %s, want %s", name, got, want)
		}
	}
	if !has(wordsOf("changelog"), "change log") || !has(wordsOf("oldPostings"), "posting") || has(wordsOf("release"), "lease") {
		t.Error("words of the glossary are not found in names, or where they are not")
	}
}
