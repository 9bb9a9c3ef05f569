// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// The script new_user has the lines of the README's Go code, and runs them. Package test/release
// runs the README's commands.
func TestScriptHasTheReadmesCode(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("testdata/script/new_user.txtar")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(readme), "\n```go\n")[1:]
	for _, block := range blocks {
		block, _, _ = strings.Cut(block, "```\n")
		for line := range strings.Lines(block) {
			code, _, _ := strings.Cut(line, " …")    // left out
			code, _, _ = strings.Cut(code, " { // ") // explained
			if code = strings.TrimSpace(code); code != "" && !strings.Contains(string(script), code) {
				t.Errorf("the script doesn't have %s", code)
			}
		}
	}
	if len(blocks) != 2 {
		t.Errorf("the README has %d blocks of Go code, want 2", len(blocks))
	}
}

var (
	pageCode    = regexp.MustCompile("`[^`\n]+`")
	pageFlag    = regexp.MustCompile(`(?:^|[ \x60])--([a-z][a-z-]*)`)
	pageCommand = regexp.MustCompile(`^(?:go tool )?informer-gen ([a-z]+)`)
)

// TestPagesShowExistingCommandsAndFlags checks the code between backticks on pages about the
// generator. The first column of a table has other tools' flags, and so have commands of kubectl
// and of a benchmark.
func TestPagesShowExistingCommandsAndFlags(t *testing.T) {
	flags, commands := map[string]bool{"help": true}, map[string]bool{}
	others := map[string]bool{"plural-exceptions": true} // in prose
	for _, command := range append(newRoot().Commands(), newRoot()) {
		commands[command.Name()] = true
		for _, set := range []*pflag.FlagSet{command.Flags(), command.PersistentFlags()} {
			set.VisitAll(func(flag *pflag.Flag) { flags[flag.Name] = true })
		}
	}
	used := map[string]bool{}
	for _, page := range []string{"generator.md", "projections.md", "config.md", "generated.md", "code-generator.md", "testing.md"} {
		text, err := os.ReadFile("../../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if page == "code-generator.md" && strings.HasPrefix(line, "| ") {
				_, line, _ = strings.Cut(line[2:], " | ")
			}
			for _, code := range pageCode.FindAllString(line, -1) {
				code = strings.Trim(code, "`")
				if strings.HasPrefix(code, "go run ./bench") || strings.HasPrefix(code, "kubectl ") {
					continue
				}
				for _, m := range pageFlag.FindAllStringSubmatch(code, -1) {
					if used[m[1]] = true; !flags[m[1]] && !others[m[1]] {
						t.Errorf("docs/%s: `%s`: there is no flag --%s", page, code, m[1])
					}
				}
				if m := pageCommand.FindStringSubmatch(code); m != nil && !commands[m[1]] {
					t.Errorf("docs/%s: `%s`: there is no command %s", page, code, m[1])
				}
			}
		}
	}
	for _, flag := range slices.Sorted(maps.Keys(flags)) {
		if !used[flag] {
			t.Errorf("no page shows --%s", flag)
		}
	}
}
