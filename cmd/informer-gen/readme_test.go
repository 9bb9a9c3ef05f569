// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// The script new_user runs the commands of the README in their order, with others in between, and
// the README's first program.
func TestNewUserRunsWhatTheReadmeShows(t *testing.T) {
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
	_, program, _ := strings.Cut(string(readme), "\n```go\n")
	program, _, ok = strings.Cut(program, "```\n")
	if !ok || !strings.Contains(string(script), "\n-- nodes/main.go --\n"+program) {
		t.Errorf("the script's nodes/main.go is not the README's first block of Go code, which is\n%s", program)
	}
	lines := strings.Split(string(script), "\n")
	for _, command := range commands {
		command, _, _ = strings.Cut(command, "#")
		command = strings.TrimSpace(command)
		at := slices.Index(lines, "exec "+command)
		if at < 0 {
			t.Fatalf("the script doesn't run %s, or not in this order", command)
		}
		lines = lines[at+1:]
	}
}
