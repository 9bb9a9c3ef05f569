// SPDX-License-Identifier: Apache-2.0

package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// shownCommands find calls of go test and go run: in backticks, in quotes, on a line of their own,
// and in a comment of a page about how a part of it is made.
var shownCommands = []*regexp.Regexp{
	regexp.MustCompile("`(?:[A-Z]+=\\S+ )?go (test|run) ([^`]+)`"),
	regexp.MustCompile(`"go (test|run) ([^"]+)"`),
	regexp.MustCompile(`(?m)^[ \t]+(?:[A-Z]+=\S+ )?go (test|run) (.*)$`),
	regexp.MustCompile(`<!--.* go (test|run) (.*) -->`),
}

// behind is what explains a command on its line.
var behind = regexp.MustCompile(`(?s)( #|   ).*`)

// goTestFlags are those of go test, and of go build, that commands use; true if a value follows.
var goTestFlags = map[string]bool{
	"bench": true, "benchmem": false, "benchtime": true, "count": true, "cpuprofile": true,
	"fuzz": true, "fuzzminimizetime": true, "fuzztime": true, "memprofile": true, "race": false,
	"run": true, "short": false, "tags": true, "timeout": true, "v": false, "vet": true,
}

// command is a call of go test or go run that a file shows.
type command struct {
	path   string
	verb   string
	fields []string
}

func (c command) String() string { return "go " + c.verb + " " + strings.Join(c.fields, " ") }

// TestShownCommandsCanBeRun looks at the commands in Markdown files, doc comments and .ci/run:
// their packages are there and define their flags, and the names that they ask for match something.
func TestShownCommandsCanBeRun(t *testing.T) {
	commands := commandsShown(t)
	t.Logf("%d commands", len(commands))
	if len(commands) < 30 {
		t.Errorf("only %d commands were found", len(commands))
	}
	all := newGoCode(t)
	for _, c := range commands {
		for _, why := range all.wrongIn(c) {
			t.Errorf("%s: %s: %s", c.path, c, why)
		}
	}
}

func TestCommandsThatCannotBeRunAreFound(t *testing.T) {
	all := newGoCode(t)
	for text, want := range map[string]string{
		"test ./bench -update":              "./bench has no flag -update in its tests",
		"test ./no/such":                    "there is no package ./no/such",
		"test ./no/...":                     "there is no package ./no/...",
		"test ./templates -run TestNothing": "-run TestNothing matches nothing",
		"test -run '^$' -fuzz FuzzNothing ./internal/generator/config": "-fuzz FuzzNothing matches nothing",
		"test ./templates update":                                      "update is neither a flag nor a package",
		"run ./bench --nothing":                                        "./bench has no flag --nothing",
		"run ./no/such --help":                                         "there is no package ./no/such",
		"test ./test/model -run TestHistories -seed 17 -race":          "",
		"test ./generator ./templates -update":                         "",
		"run ./bench --only event,sync/pods -n 1 -cpuprofile x":        "",
		"run ./devserver/cmd/devserver --nothing -- ls --all":          "./devserver/cmd/devserver has no flag --nothing",
	} {
		verb, rest, _ := strings.Cut(text, " ")
		if got := strings.Join(all.wrongIn(command{verb: verb, fields: fieldsOf(rest)}), "; "); got != want {
			t.Errorf("go %s: got %q, want %q", text, got, want)
		}
	}
}

func commandsShown(t *testing.T) (commands []command) {
	t.Helper()
	add := func(path, text string) {
		for _, form := range shownCommands {
			for _, m := range form.FindAllStringSubmatch(text, -1) {
				commands = append(commands, command{path, m[1], fieldsOf(m[2])})
			}
		}
	}
	for path, content := range files(t, ".md") {
		add(path, string(content))
	}
	for _, folder := range goFiles(t) {
		for _, f := range folder {
			for _, group := range f.file.Comments {
				add(f.path, group.Text())
			}
		}
	}
	script, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	add(".ci/run", string(script))
	slices.SortFunc(commands, func(a, b command) int { return strings.Compare(a.path, b.path) })
	return commands
}

// fieldsOf splits a command line, and takes off quotes and what explains it.
func fieldsOf(line string) []string {
	fields := strings.Fields(behind.ReplaceAllString(line, ""))
	for i := range fields {
		fields[i] = strings.Trim(fields[i], `'"`)
	}
	return fields
}

// goCode is what commands are about: the Go files of the repository, and the flags of its tests,
// true for those without a value.
type goCode struct {
	folders   map[string][]goFile
	testFlags map[string]bool
}

func newGoCode(t *testing.T) goCode {
	t.Helper()
	folders := goFiles(t)
	return goCode{folders, flagsOf(slices.Concat(slices.Collect(maps.Values(folders))...), true)}
}

// wrongIn returns why a command can't be run. What a shell fills in is not looked at.
func (g goCode) wrongIn(c command) (wrong []string) {
	var packages []string
	patterns := map[string]string{}                             // by flag of go test
	flags := []string{}                                         // the packages' own
	for i := 0; i < len(c.fields) && c.fields[i] != "--"; i++ { // behind it is another command
		field := c.fields[i]
		name, _, hasValue := strings.Cut(strings.TrimLeft(field, "-"), "=")
		switch isFlag := strings.HasPrefix(field, "-"); {
		case strings.Contains(field, "$"):
		case c.verb == "run" && len(packages) > 0:
			if isFlag {
				flags = append(flags, name)
			}
		case !isFlag && (strings.HasPrefix(field, ".") || strings.HasPrefix(field, module) || field == "work"):
			packages = append(packages, field)
		case !isFlag:
			wrong = append(wrong, field+" is neither a flag nor a package")
		default:
			takes, known := goTestFlags[name]
			if !known {
				flags = append(flags, name)
				takes = !g.testFlags[name]
			}
			if takes && !hasValue && i+1 < len(c.fields) {
				i++
				patterns[name] = c.fields[i]
			}
		}
	}
	var code []goFile
	for _, p := range packages {
		of := filesOf(p, g.folders)
		if len(of) == 0 && p != "." {
			wrong = append(wrong, "there is no package "+p)
			continue
		}
		code = append(code, of...)
		defined := flagsOf(of, c.verb == "test")
		for _, name := range flags {
			if _, ok := defined[name]; ok || p == "." || name == "help" {
				continue
			}
			if c.verb == "test" {
				wrong = append(wrong, fmt.Sprintf("%s has no flag -%s in its tests", p, name))
			} else {
				wrong = append(wrong, fmt.Sprintf("%s has no flag --%s", p, name))
			}
		}
	}
	for flag, prefixes := range map[string]string{"run": "Test|Example|Fuzz", "bench": "Benchmark", "fuzz": "Fuzz"} {
		pattern, _, _ := strings.Cut(patterns[flag], "/")
		if len(code) > 0 && pattern != "" && pattern != "^$" && !matches(code, pattern, prefixes) {
			wrong = append(wrong, "-"+flag+" "+pattern+" matches nothing")
		}
	}
	return wrong
}

// filesOf returns the Go files of a package, or of those below a folder if a pattern ends in /....
// A path that leads up is that of a command for another folder.
func filesOf(pattern string, folders map[string][]goFile) (found []goFile) {
	below, wild := strings.CutSuffix(pattern, "...")
	below, _, _ = strings.Cut(strings.TrimPrefix(below, module), "@")
	for strings.HasPrefix(below, "../") {
		below = strings.TrimPrefix(below, "../")
	}
	below = path.Clean(below)
	for folder, files := range folders {
		if folder == below || pattern == "work" || wild && (below == "." || within(folder, below)) {
			found = append(found, files...)
		}
	}
	return found
}

var definesFlag = regexp.MustCompile(`^(Bool|Duration|Float64|Int|String|Uint)[A-Za-z0-9]*$`)

// flagsOf returns the flags that files define, or tests among them; true for those without a value.
func flagsOf(files []goFile, tests bool) map[string]bool {
	flags := map[string]bool{}
	for _, f := range files {
		if strings.HasSuffix(f.path, "_test.go") != tests {
			continue
		}
		ast.Inspect(f.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !definesFlag.MatchString(method.Sel.Name) {
				return true
			}
			for _, arg := range call.Args {
				if lit, ok := arg.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					name, _ := strconv.Unquote(lit.Value)
					flags[name] = strings.HasPrefix(method.Sel.Name, "Bool")
					break
				}
			}
			return true
		})
	}
	return flags
}

// matches reports whether tests declare a function of that kind, whose name a pattern matches.
func matches(files []goFile, pattern, prefixes string) bool {
	name, err := regexp.Compile(pattern)
	kind := regexp.MustCompile("^(" + prefixes + ")")
	return err == nil && slices.ContainsFunc(files, func(f goFile) bool {
		return strings.HasSuffix(f.path, "_test.go") && slices.ContainsFunc(f.file.Decls, func(decl ast.Decl) bool {
			function, ok := decl.(*ast.FuncDecl)
			return ok && function.Recv == nil && kind.MatchString(function.Name.Name) && name.MatchString(function.Name.Name)
		})
	})
}
