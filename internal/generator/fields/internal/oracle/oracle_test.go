// SPDX-License-Identifier: Apache-2.0

// Package oracle compares the fields found in random programs with the programs' behavior. Each
// program runs on objects in which one field after the other is changed. If its output changes, the
// program reads the field, and fields must report it, or something that contains it.
package oracle

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/informer-gen/informer-gen/internal/generator/fields"
)

var (
	seed     = flag.Uint64("seed", 1, "of the random programs")
	programs = flag.Int("programs", 50, "how many random programs there are")
	all      = flag.Bool("each", false, "try also a program for each of the blocks of which programs consist")
	only     = flag.String("chain", "", "try this program, whose blocks are separated by \" | \", and no others")
	keep     = flag.String("keep", "", "write to this folder, which is kept, instead of a temporary one")
	list     = flag.Bool("list", false, "print what is found of each program")
)

// result is the outcome of one program.
type result struct {
	chain chain
	name  string
	// missed are changes that the program notices, at fields that its uses lack.
	missed []string
	// escapes are uses of whole parts.
	escapes []string
	// unread are fields among the uses whose changes the program didn't notice.
	unread []string
	uses   []string
}

func TestRandomPrograms(t *testing.T) {
	var chains []chain
	if *only != "" {
		c, err := parse(*only)
		if err != nil {
			t.Fatal(err)
		}
		chains = append(chains, c)
	} else {
		c := chooser{rand.New(rand.NewPCG(*seed, 0)), map[*block]int{}, false}
		for range *programs {
			chains = append(chains, c.chain())
		}
		if *all {
			chains = append(chains, each()...)
		}
	}
	dir := *keep
	if dir == "" {
		dir = t.TempDir()
	}
	results := try(t, dir, chains)
	var failed []result
	followed, gaveUp, more := 0, 0, 0
	for _, r := range results {
		if *list {
			t.Logf("%s: %s\n\t%s", r.name, r.chain, strings.Join(r.uses, "\n\t"))
		}
		if len(r.missed) > 0 {
			failed = append(failed, r)
		}
		if r.chain.lost() {
			continue
		}
		followed++
		if len(r.escapes) > 0 {
			gaveUp++
			t.Logf("gives up needlessly: %s\n\t%s", r.chain, strings.Join(r.escapes, "\n\t"))
		} else if len(r.unread) > 0 {
			more++
		}
	}
	if gaveUp*5 > followed && *only == "" {
		t.Errorf("%d of %d programs that can be followed are given up", gaveUp, followed)
	}
	t.Logf("of %d programs, %d can be followed; of these %d are given up, and %d have fields that no change shows", len(results), followed, gaveUp, more)
	report(t, failed)
}

// report fails for each program, with the shortest part of its chain that is wrong as well.
func report(t *testing.T, failed []result) {
	var shorter []chain
	for _, r := range failed {
		shorter = append(shorter, r.chain.shorter()...)
	}
	short := map[string]result{}
	if len(shorter) > 0 {
		for _, r := range try(t, t.TempDir(), shorter) {
			short[r.chain.String()] = r
		}
	}
	for _, r := range failed {
		for _, c := range r.chain.shorter() {
			if s := short[c.String()]; len(s.missed) > 0 {
				r = s
				break
			}
		}
		t.Errorf("%s\n\tto repeat: go test ./internal/generator/fields/internal/oracle -list -chain %q\n\tis found to use\n\t\t%s\n\tbut notices\n\t\t%s",
			r.chain, r.chain, strings.Join(r.uses, "\n\t\t"), strings.Join(r.missed, "\n\t\t"))
	}
}

// output is the harness's line about one program.
type output struct {
	Name     string
	Prints   []string
	Differs  [][]int
	Unstable bool
}

// try writes programs to an empty folder, runs them and finds their fields.
func try(t *testing.T, dir string, chains []chain) []result {
	t.Helper()
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	t.Setenv("GOPROXY", "off")
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	if old, err := os.ReadDir(dir); err != nil || len(old) > 0 {
		t.Fatalf("%s must be an empty folder (%v)", dir, err)
	}
	writeModule(t, dir, chains)
	on := bases()
	outputs := runAll(t, dir, on)
	var found *fields.Report
	var results []result
	for i, c := range chains {
		if i%together == 0 {
			if found, err = fields.Find(t.Context(), fields.Config{Dir: dir, Patterns: []string{"./" + packageOf(i)}}); err != nil {
				t.Fatal(err)
			}
		}
		r := result{chain: c, name: programName(i)}
		o := outputs[r.name]
		if o.Unstable {
			t.Errorf("%s prints something else each time:\n%.2000s", c, o.Prints)
		}
		if noticed := len(slices.Concat(o.Differs...)); *list && (noticed == 0 || strings.HasPrefix(o.Prints[0], "panic: ")) {
			t.Logf("%s: notices %d changes, prints %.100s", c, noticed, o.Prints[0])
		}
		uses := r.usesIn(found)
		seen := map[string]bool{}
		for n, of := range on {
			for _, at := range o.Differs[n] {
				change := of.changes[at]
				seen[change.path] = true
				if !slices.ContainsFunc(uses, change.shownBy) {
					r.missed = append(r.missed, change.path+" "+change.text)
				}
			}
		}
		for _, u := range uses {
			if u.How == fields.Read && !seen[normal(u.Path)] && !strings.HasPrefix(u.Path, ".metadata.n") {
				r.unread = append(r.unread, u.Path)
			}
		}
		results = append(results, r)
	}
	return results
}

// usesIn returns the uses of the program's kind and of unknown kinds, except those in the files of
// other programs. Metadata types are shared by all kinds, so another program's uses may show under
// this kind. Of these only the presence of a part counts, since fields tells no presence beside a
// use inside the part.
func (r *result) usesIn(report *fields.Report) (uses []fields.Use) {
	// Clients and informers hand out objects of unknown kinds to code that programs share.
	untyped := r.chain[0].name == "client" || r.chain[0].name == "informer"
	add := func(u fields.Use, shared bool) {
		escape := u.How != fields.Read && u.How != fields.Present
		file := ofProgram.FindString(filepath.Base(u.Pos.Filename))
		if file != r.name && (file != "" || !shared || escape && u.Path == "") {
			if !escape {
				uses = append(uses, fields.Use{Path: u.Path, How: fields.Present})
			}
			return
		}
		uses = append(uses, u)
		text := fmt.Sprintf("%s %s %s:%d %s", u.How, u.Path, filepath.Base(u.Pos.Filename), u.Pos.Line, u.Why)
		r.uses = append(r.uses, text)
		if escape {
			r.escapes = append(r.escapes, text)
		}
	}
	for _, k := range report.Kinds {
		if strings.TrimSuffix(k.Name, "Pod") == r.name {
			for _, u := range k.Uses {
				add(u, true)
			}
		}
	}
	for _, u := range report.Unknown {
		add(u, untyped)
	}
	return uses
}

// shownBy reports whether a use covers the changed field.
func (c change) shownBy(u fields.Use) bool {
	path := normal(u.Path)
	if u.How == fields.Present {
		return c.shape && within(path, c.path)
	}
	return within(c.path, path) || c.shape && within(path, c.path)
}

// within reports whether a path is that of a part, or of something in it.
func within(path, part string) bool {
	rest, ok := strings.CutPrefix(path, part)
	return ok && (part == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
}

var key = regexp.MustCompile(`\[[^]]*\]`)

// normal replaces each key of a path by [*].
func normal(path string) string { return key.ReplaceAllString(path, "[*]") }

var ofProgram = regexp.MustCompile(`^P\d+`)

// together is the number of programs in a package, which fields.Find looks at in one call.
const together = 50

// packageOf is the package of the i-th program.
func packageOf(i int) string { return "programs" + strconv.Itoa(i/together) }

func programName(i int) string { return "P" + strconv.Itoa(i) }

func writeModule(t *testing.T, dir string, chains []chain) {
	stubs, err := txtar.ParseFile("testdata/stubs.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range stubs.Files {
		write(t, filepath.Join(dir, filepath.FromSlash(f.Name)), string(f.Data))
	}
	kind, err := txtar.ParseFile("testdata/kind.txtar")
	if err != nil {
		t.Fatal(err)
	}
	part := map[string]string{}
	for _, f := range kind.Files {
		part[f.Name] = string(f.Data)
	}
	var table strings.Builder
	for i, c := range chains {
		name := programName(i)
		body, decls := c.program(name)
		params, args, parts := signature(body)
		replace := func(text string) string {
			text = strings.NewReplacer("$programs", packageOf(i), "$params", params, "$args", args, "$body", body, "$decls", decls).Replace(text)
			return strings.ReplaceAll(text, "$K", name)
		}
		code := replace(part["program"])
		write(t, filepath.Join(dir, packageOf(i), name+".go"), "// "+c.String()+"\npackage "+packageOf(i)+"\n\n"+imports(code)+code)
		write(t, filepath.Join(dir, "api", name+".go"), replace(part["api"]))
		for _, of := range parts {
			write(t, filepath.Join(dir, "gen", name+of+".go"), replace(part[of]))
		}
		table.WriteString(replace(part["main"]))
	}
	code := part["harness"] + "\nvar everyProgram = []program{\n" + table.String() + "}\n"
	write(t, filepath.Join(dir, "run", "main.go"), "package main\n\n"+imports(code)+code)
}

// runAll builds the programs and returns what they print.
func runAll(t *testing.T, dir string, on []*base) map[string]output {
	t.Helper()
	binary := filepath.Join(dir, "run.exe")
	run := func(stdin []byte, command string, args ...string) []byte {
		c := exec.CommandContext(t.Context(), command, args...)
		c.Dir, c.Stdin = dir, bytes.NewReader(stdin)
		var stdout, stderr bytes.Buffer
		c.Stdout, c.Stderr = &stdout, &stderr
		if err := c.Run(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, stderr.Bytes())
		}
		return stdout.Bytes()
	}
	run(nil, "go", "build", "-gcflags=example.com/m/...=-N -l", "-ldflags=-s -w", "-o", binary, "./run")
	stdin, err := json.Marshal(map[string]any{"Bases": on})
	if err != nil {
		t.Fatal(err)
	}
	var all []output
	if err := json.Unmarshal(run(stdin, binary), &all); err != nil {
		t.Fatal(err)
	}
	byName := map[string]output{}
	for _, o := range all {
		byName[o.Name] = o
	}
	return byName
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
