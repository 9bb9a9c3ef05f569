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

// The script new_user runs the README's commands in their order, among others, and the README's
// program. It has the lines of the README's first block of Go code, too.
func TestScriptRunsTheReadmesCommands(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("testdata/script/new_user.txtar")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(readme), "\n```\ngo get -tool ")
	block, _, ok := strings.Cut("go get -tool "+block, "\n```")
	commands := strings.Split(block, "\n")
	if !ok || len(commands) != 4 {
		t.Fatalf("the README has no block of four commands that begins with go get -tool, but %q", commands)
	}
	_, program, _ := strings.Cut(string(readme), "\n```go\npackage main\n")
	program, _, ok = strings.Cut("package main\n"+program, "```\n")
	if !ok || !strings.Contains(string(script), "\n-- nodes/main.go --\n"+program) {
		t.Errorf("the script's nodes/main.go is not the README's program, which is\n%s", program)
	}
	lines := strings.Split(string(script), "\n")
	_, first, _ := strings.Cut(string(readme), "\n```go\n")
	first, _, _ = strings.Cut(first, "```\n")
	for line := range strings.Lines(first) {
		code, _, _ := strings.Cut(line, " …")    // left out
		code, _, _ = strings.Cut(code, " { // ") // explained
		if code = strings.TrimSpace(code); code != "" && !strings.Contains(string(script), code) {
			t.Errorf("the script doesn't have %s", code)
		}
	}
	for _, command := range commands {
		command, _, _ = strings.Cut(command, "#")
		command = strings.TrimSpace(command)
		at := slices.Index(lines, "exec "+command)
		if at < 0 {
			t.Fatalf("new_user.txtar doesn't run %q, or not in the README's order", command)
		}
		lines = lines[at+1:]
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
