// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/modfile"
)

func TestParseRefusesWrongFlags(t *testing.T) {
	for _, tc := range []struct {
		args string
		runs int
		only int
		err  string
	}{
		{args: "", runs: 5, only: len(benches)},
		{args: "-n 3 --only cold,generate --md", runs: 3, only: 2},
		{args: "-n 0", err: "want 1 or more"},
		{args: "--only warm", err: `no part "warm"; there are generate, cold, compile`},
		{args: "generate", err: "unexpected argument"},
	} {
		got, err := parse(strings.Fields(tc.args), io.Discard)
		switch {
		case tc.err != "":
			if err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%q: got %v, want %s", tc.args, err, tc.err)
			}
		case err != nil || got.runs != tc.runs || len(got.only) != tc.only || got.markdown != strings.Contains(tc.args, "md"):
			t.Errorf("%q: got %+v, %v", tc.args, got, err)
		}
	}
}

// TestRowsHaveTheirMarks keeps a mark from being lowered by accident.
func TestRowsHaveTheirMarks(t *testing.T) {
	want := map[string]mark{
		"generate: wall time":          8,
		"generate: CPU time":           8,
		"generate: peak memory":        4,
		"cold build cache: wall time":  1,
		"cold build cache: CPU time":   1,
		"compile the output: CPU time": 3,
	}
	for _, b := range benches {
		for _, m := range b.rows {
			if m.mark != want[m.name] {
				t.Errorf("%s: the mark is %v, want %v", m.name, m.mark, want[m.name])
			}
			delete(want, m.name)
		}
	}
	if len(want) > 0 {
		t.Errorf("not measured: %v", want)
	}
}

// TestSidesRunInTurn counts the calls of a part of the table.
func TestSidesRunInTurn(t *testing.T) {
	var order []side
	b := bench{
		rows: []measure{{name: "peak", unit: bytes, of: peak}},
		once: func(_ context.Context, _ *rig, s side) (usage, error) {
			order = append(order, s)
			return usage{peak: int64(len(order))}, nil
		},
	}
	rows, err := b.measure(t.Context(), nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	if want := []side{ours, theirs, theirs, ours, ours, theirs}; !slices.Equal(order, want) {
		t.Errorf("the order is %v, want %v", order, want)
	}
	if got := rows[0].values; !slices.Equal(got[ours], []float64{4, 5}) || !slices.Equal(got[theirs], []float64{3, 6}) {
		t.Errorf("got %v; the first run of each side doesn't count", got)
	}
	stop := errors.New("enough")
	b.once = func(context.Context, *rig, side) (usage, error) { return usage{}, stop }
	if _, err := b.measure(t.Context(), nil, 1); !errors.Is(err, stop) {
		t.Errorf("got %v, want the error of the run", err)
	}
}

func TestUsageCountsChildren(t *testing.T) {
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	u, err := program{path: tool, args: []string{"vet", "unsafe"}, env: os.Environ()}.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if u.wall <= 0 || u.cpu <= 0 || u.peak != 0 && u.peak < 1<<20 {
		t.Errorf("got %+v", u)
	}
	if _, err := (program{path: tool, args: []string{"no-such-command"}, env: os.Environ()}).run(t.Context()); err == nil || !strings.Contains(err.Error(), "unknown command") {
		t.Errorf("got %v, want what the program said", err)
	}
	sum := usage{1, 2, 5}.then(usage{10, 20, 3})
	if sum != (usage{wall: 11 * time.Nanosecond, cpu: 22, peak: 5}) {
		t.Errorf("one after the other: %+v", sum)
	}
}

func TestBeginningOfALongTextIsTwentyLines(t *testing.T) {
	if got := beginning("a\nb"); got != "a\nb" {
		t.Errorf("got %q", got)
	}
	if got := beginning(strings.Repeat("x\n", 100)); strings.Count(got, "x") != 20 || !strings.HasSuffix(got, "…") {
		t.Errorf("got %q", got)
	}
}

func TestRewrittenModuleLeadsToTheCheckout(t *testing.T) {
	data, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	data, err = rewrite(data, "/somewhere/bench", "bench.example/x")
	if err != nil {
		t.Fatal(err)
	}
	file, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		t.Fatal(err)
	}
	if file.Module.Mod.Path != "bench.example/x" || file.Replace[0].Old.Path != rootModule || file.Replace[0].New.Path != "/somewhere" {
		t.Errorf("got\n%s", data)
	}
}

// TestProgramsAreThere lists what newRig builds and reads, which costs nothing, so that a change of
// versions shows here.
func TestProgramsAreThere(t *testing.T) {
	env := append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	for _, pkg := range []string{rootModule + "/cmd/informer-gen", peers + "lister-gen", peers + "informer-gen"} {
		name, err := goCommand(t.Context(), "", env, "list", "-f", "{{.Name}}", pkg)
		if err != nil || name != "main" {
			t.Errorf("%s: package %q, %v", pkg, name, err)
		}
	}
	version, err := goCommand(t.Context(), "", env, "list", "-m", "-f", "{{.Version}}", "k8s.io/code-generator", "k8s.io/api", "k8s.io/client-go")
	if err != nil || version != "v0.37.2\nv0.37.2\nv0.37.2" {
		t.Errorf("versions %q, %v", version, err)
	}
	dir, err := goCommand(t.Context(), "", env, "list", "-m", "-f", "{{.Dir}}", "k8s.io/api")
	if err != nil {
		t.Fatal(err)
	}
	packages, err := withTypes(dir)
	if err != nil || len(packages) != 60 || !slices.Contains(packages, "k8s.io/api/core/v1") {
		t.Errorf("%d packages have types, %v: %v", len(packages), err, packages)
	}
}

func TestProgramsGetTheFlagsThatTheyRequire(t *testing.T) {
	r := &rig{temp: "/temp", packages: []string{"k8s.io/api/core/v1"}}
	var calls []string
	for _, s := range sides {
		for _, p := range r.programs(s) {
			calls = append(calls, filepath.ToSlash(p.dir+"$ "+p.path+" "+strings.Join(p.args, " ")))
		}
	}
	want := []string{
		"/temp/ours$ /temp/bin/ours k8s.io/api/core/v1",
		"/temp/theirs$ /temp/bin/lister-gen --go-header-file /temp/licence.txt --plural-exceptions Endpoints:Endpoints" +
			" --output-dir /temp/theirs/generated/listers --output-pkg bench.example/theirs/generated/listers k8s.io/api/core/v1",
		"/temp/theirs$ /temp/bin/informer-gen --go-header-file /temp/licence.txt --plural-exceptions Endpoints:Endpoints" +
			" --output-dir /temp/theirs/generated/informers --output-pkg bench.example/theirs/generated/informers --single-directory" +
			" --versioned-clientset-package k8s.io/client-go/kubernetes --listers-package bench.example/theirs/generated/listers k8s.io/api/core/v1",
	}
	if !slices.Equal(calls, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(calls, "\n"), strings.Join(want, "\n"))
	}
}

func TestCountAndTouch(t *testing.T) {
	dir := t.TempDir()
	text := "package v1\n\ntype PodLister interface{}\n\ntype PodNamespaceLister interface{}\n\ntype NamespaceLister interface{}\n"
	name := filepath.Join(dir, "pod.go")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	n, err := count(dir)
	if want := (counts{kinds: 2, files: 1, lines: 7}); err != nil || n != want {
		t.Errorf("got %+v, %v, want %+v", n, err, want)
	}
	var before []byte
	for run := range 3 {
		if err := touch(dir, run); err != nil {
			t.Fatal(err)
		}
		after, err := os.ReadFile(name)
		if err != nil || string(after) == string(before) || strings.Count(string(after), compiled) != 1 || !strings.HasPrefix(string(after), text) {
			t.Errorf("run %d: %v\n%s", run, err, after)
		}
		before = after
	}
}
