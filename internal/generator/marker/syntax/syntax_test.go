// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
)

// parseText parses one line whose "+" stands at column 1.
func parseText(text string) ([]marker.Marker, diag.List) {
	var report diag.List
	line := Line{Text: strings.TrimPrefix(text, "+"), Pos: token.Position{Filename: "f.go", Line: 1, Column: 1}}
	return Parse([]Line{line}, &report), report
}

func TestParseReadsArgumentsWithTheirPositions(t *testing.T) {
	for text, want := range map[string]string{
		"+genclient":                                             "Genclient",
		"+genclient // a comment":                                "Genclient",
		"+genclient # a comment":                                 "Genclient",
		"+genclient:nonNamespaced":                               "NonNamespaced",
		"+genclient:onlyVerbs=get,list":                          "OnlyVerbs Verbs=[get@22 list@26]",
		"+genclient:onlyVerbs=get, list ,watch":                  "OnlyVerbs Verbs=[get@22 list@27 watch@33]",
		"+resourceName=gizmos":                                   "ResourceName Name=gizmos@15",
		"+resourceName=gizmos // not widgets":                    "ResourceName Name=gizmos@15",
		`+resourceName="giz // mos"`:                             "ResourceName Name=giz // mos@16",
		"+resourceName=giz#mos":                                  "ResourceName Name=giz#mos@15",
		"+groupName=":                                            "GroupName Name=@12",
		"+groupName=samples.example.com":                         "GroupName Name=samples.example.com@12",
		"+kubebuilder:object:root":                               "ObjectRoot Root=",
		"+kubebuilder:object:root=true":                          "ObjectRoot Root=true@26",
		"+kubebuilder:resource":                                  "Resource Path= Scope= Singular= ShortName=[] Categories=[]",
		"+kubebuilder:resource:path=a,scope=Cluster":             "Resource Path=a@28 Scope=Cluster@36 Singular= ShortName=[] Categories=[]",
		"+kubebuilder:resource:shortName=a;b,categories={c,d}":   "Resource Path= Scope= Singular= ShortName=[a@33 b@35] Categories=[c@49 d@51]",
		"+informer:index:name=ByA,field=.spec.a[*].b":            "Index Name=ByA@22 Fields=[.spec.a[*].b@32] Func= Owner= When= Namespaced= Projection=",
		"+informer:index:name=ByA,field=.a['x,y']":               "Index Name=ByA@22 Fields=[.a['x,y']@32] Func= Owner= When= Namespaced= Projection=",
		"+informer:index:name=A,field=.a['x]y;,']; .b // c":      "Index Name=A@22 Fields=[.a['x]y;,']@30 .b@43] Func= Owner= When= Namespaced= Projection=",
		`+informer:index:name=A,field=.a["x\",; // y"],func=F`:   `Index Name=A@22 Fields=[.a["x\",; // y"]@30] Func=F@52 Owner= When= Namespaced= Projection=`,
		`+informer:index:name=A,field={.a['x;y'],.b}`:            `Index Name=A@22 Fields=[.a['x;y']@31 .b@41] Func= Owner= When= Namespaced= Projection=`,
		`+informer:index:name=A,field=".a;.b"`:                   `Index Name=A@22 Fields=[.a;.b@31] Func= Owner= When= Namespaced= Projection=`,
		"+informer:index:func=F,name=`ByA`":                      "Index Name=ByA@30 Fields=[] Func=F@22 Owner= When= Namespaced= Projection=",
		`+informer:index:name=A,owner=Job.batch,namespaced=true`: "Index Name=A@22 Fields=[] Func= Owner=Job.batch@30 When= Namespaced=true@51 Projection=",
		`+informer:index:name=A,when=.x=="a,b" && .y!=null`:      `Index Name=A@22 Fields=[] Func= Owner= When=.x=="a,b" && .y!=null@29 Namespaced= Projection=`,
		`+informer:index:name=A,when=.x == 'its, # so' # so`:     `Index Name=A@22 Fields=[] Func= Owner= When=.x == 'its, # so'@29 Namespaced= Projection=`,
		`+informer:index:when=.x=='a\'b,',name=A`:                `Index Name=A@39 Fields=[] Func= Owner= When=.x=='a\'b,'@22 Namespaced= Projection=`,
		`+informer:index:name=A,when=.x==it's,func=F`:            `Index Name=A@22 Fields=[] Func=F@43 Owner= When=.x==it's@29 Namespaced= Projection=`,
		"+genclient:method=GetScale,verb=get,subresource=scale":  "method Name=GetScale@19 Verb=get@33 Subresource=scale@49 Input= Result=",

		// Markers of other tools.
		"+k8s:deepcopy-gen=true":            "",
		"+optional":                         "",
		"+kubebuilder:storageversion":       "",
		"+kubebuilder:validation:Minimum=0": "",
		"+kubebuilder:object:generate=true": "",
	} {
		markers, report := parseText(text)
		if len(report) > 0 {
			t.Errorf("%s: %v", text, report)
		}
		got := ""
		if len(markers) > 0 {
			got = describe(markers[0])
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

// describe formats a marker with its values and their columns.
func describe(m marker.Marker) string {
	d := DefinitionOf(m)
	parts := []string{reflect.TypeOf(m).Elem().Name()}
	for _, arg := range d.Args {
		name, values := arg.load(m)
		var texts []string
		for _, v := range values {
			text := v.Text
			if v.IsSet() {
				text += fmt.Sprintf("@%d", v.Pos.Column)
			}
			texts = append(texts, text)
		}
		if arg.List {
			parts = append(parts, fmt.Sprintf("%s=%v", name, texts))
		} else {
			parts = append(parts, fmt.Sprintf("%s=%s", name, texts[0]))
		}
	}
	return strings.Join(parts, " ")
}

func TestParseReportsTheDeepestPlace(t *testing.T) {
	for text, want := range map[string]string{
		"+genclient=x":                             `f.go:1:12: +genclient: takes no value; write +genclient`,
		"+genclient is wanted":                     `f.go:1:11: +genclient: unexpected " is wanted" after the name; write +genclient`,
		"+genclient:onlyVerbs=get,lsit":            `f.go:1:26: +genclient:onlyVerbs: verb "lsit" isn't known, did you mean list?`,
		"+genclient:onlyVerbs=get,,list":           `f.go:1:26: +genclient:onlyVerbs: the value is empty`,
		"+informer:index:nam=A,field=.a":           `f.go:1:17: +informer:index: unknown argument nam, did you mean name? (allowed: name, field, func, owner, when, namespaced, projection)`,
		"+informer:index:name=A,fild=.a":           `f.go:1:24: +informer:index: unknown argument fild, did you mean field? (allowed: name, field, func, owner, when, namespaced, projection)`,
		"+informer:index:name=A,name=B":            `f.go:1:29: +informer:index: argument name is given twice`,
		"+informer:index:name=A,field":             `f.go:1:24: +informer:index: argument field has no value: write field=… (allowed: name, field, func, owner, when, namespaced, projection)`,
		"+informer:index:name=A,fields":            `f.go:1:24: +informer:index: "fields" isn't an argument: write name=value (allowed: name, field, func, owner, when, namespaced, projection)`,
		"+informer:index:name":                     `f.go:1:21: +informer:index: the value of name is empty`,
		"+ informer:index:name=A":                  `f.go:1:1: +informer:index:name: remove the blank between + and the name: write +informer:index:name=A`,
		"+informer:index":                          `f.go:1:1: +informer:index: argument name is missing; write +informer:index:name=…,field=…|func=…|owner=…,when=…,namespaced=…`,
		"+informer:indx:name=A":                    `f.go:1:1: +informer:indx: unknown marker, did you mean +informer:index? (allowed: +informer:generate, +informer:plural, +informer:index, +informer:project)`,
		"+informer":                                `f.go:1:1: +informer: unknown marker (allowed: +informer:generate, +informer:plural, +informer:index, +informer:project)`,
		"+genclinet":                               `f.go:1:1: warning: +genclinet: unknown marker, did you mean +genclient?`,
		"+GroupName=x":                             `f.go:1:1: warning: +GroupName: unknown marker, did you mean +groupName?`,
		"+kubebuilder:resource:scope=None":         `f.go:1:29: +kubebuilder:resource: scope "None" isn't known (allowed: Namespaced, Cluster)`,
		`+resourceName="open`:                      `f.go:1:15: +resourceName: invalid quoted string: "open`,
		"+informer:index:name=A,namespaced=yes":    `f.go:1:35: +informer:index: namespaced "yes" isn't known (allowed: true, false)`,
		"+informer:index:name=A,field=.a,field=.b": `f.go:1:39: +informer:index: argument field is given twice`,
		"+informer:index:name=A,field=.a;":         `f.go:1:33: +informer:index: the value of field is empty`,
		"+groupName":                               `f.go:1:1: +groupName: the value is missing; write +groupName=…`,
	} {
		markers, report := parseText(text)
		if len(markers) > 0 {
			t.Errorf("%s: got a marker: %s", text, describe(markers[0]))
		}
		if got := report.Error(); !strings.HasPrefix(got, want) || len(report) != 1 {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

const source = `// Package v1 is for this test.
//   +groupName=a
package v1

// +groupName=b

import "fmt" // +groupName=c

// far away +genclient
// + genclient stands in a list
// +far=1

// +above=1

// doc
// +doc=1
type A struct {
	// +inside=1
	B int // +inside=2
}

/*
 * +block=1
 * + informer:block
	+block=2 */
type B struct{}

type (
	// +group=C
	C struct{}

	// +above=D

	// +group=D
	D interface{ /* +inside=3 */ }
)

// +func=1
func F() {
	// +body=1
	fmt.Println()
}

// +last=1
`

func TestScanAssignsLinesToDeclarations(t *testing.T) {
	t.Run("LF", func(t *testing.T) { testScan(t, source) })
	t.Run("CRLF", func(t *testing.T) { testScan(t, strings.ReplaceAll(source, "\n", "\r\n")) })
}

func testScan(t *testing.T, source string) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "f.go", source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	found := Scan(fset, file)
	got := map[string]string{"package": texts(found.Package), "inside": texts(found.Inside)}
	for _, decl := range file.Decls {
		if decl, ok := decl.(*ast.GenDecl); ok {
			for _, spec := range decl.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok {
					got[spec.Name.Name] = texts(found.Types[spec])
				}
			}
		}
	}
	want := map[string]string{
		"package": "groupName=a groupName=b groupName=c far=1 func=1 last=1",
		"inside":  "inside=1 inside=2 inside=3",
		"A":       "above=1 doc=1",
		"B":       "block=1  informer:block block=2",
		"C":       "group=C",
		"D":       "above=D group=D",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// Each line has the position of its plus sign.
	lines := strings.Split(source, "\n")
	all := slices.Concat(found.Package, found.Inside)
	for _, typed := range found.Types {
		all = append(all, typed...)
	}
	for _, line := range all {
		if rest := lines[line.Pos.Line-1][line.Pos.Column-1:]; !strings.HasPrefix(rest, "+"+line.Text) {
			t.Errorf("%s: stands at %q", line, rest)
		}
	}
}

func texts(lines []Line) string {
	var texts []string
	for _, line := range lines {
		texts = append(texts, line.Text)
	}
	return strings.Join(texts, " ")
}

func TestDefinitionsAreDocumented(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range definitions {
		if d.Doc == "" || d.Target == Nowhere || seen[d.Name] {
			t.Errorf("+%s: no doc, no target, or defined twice", d.Name)
		}
		seen[d.Name] = true
		for i, arg := range d.Args {
			if arg.Doc == "" || arg.Name == "" && i > 0 {
				t.Errorf("+%s: argument %q has no doc, or no name without being the first", d.Name, arg.Name)
			}
		}
	}
	for _, name := range foreign {
		if seen[name] {
			t.Errorf("+%s is ours and foreign", name)
		}
	}
}

func TestValueAtCountsEscapes(t *testing.T) {
	const text = `+informer:index:name=A,when=".x==\"\u00e9\x41\" && .y==1"`
	markers, report := parseText(text)
	if len(report) > 0 {
		t.Fatal(report)
	}
	when := marker.First[marker.Index](markers).When
	if when.Text != `.x=="éA" && .y==1` {
		t.Fatalf("got %q", when.Text)
	}
	for part, want := range map[string]string{".x": ".x", `"é`: `\"\u00e9`, "é": `\u00e9`, "A": `\x41`, ".y": ".y", "1": `1"`} {
		at := when.At(strings.Index(when.Text, part))
		if rest := text[at.Column-1:]; !strings.HasPrefix(rest, want) {
			t.Errorf("At of %s is the position of %s", part, rest)
		}
	}
	if end := when.At(len(when.Text)); text[end.Column-1:] != `"` {
		t.Errorf("At of the end is column %d", end.Column)
	}
}

func FuzzParse(f *testing.F) {
	for _, d := range definitions {
		f.Add(d.Usage())
	}
	f.Add("+informer:index:name=\"A,field=.a['x']// c")
	f.Add("+informer:index:name=A,when=.x=='a,\\'b' && .y!=\"\\u00e9,\",field=.a['#'] ;.b // c")
	f.Add("+informer:index:name=A,when=\".x==\\\"\\u00e9\\\"\"")
	f.Add("+kubebuilder:resource:shortName={a;b,categories=}")
	f.Add("+genclient:method=,,=")
	f.Add("+genclient:method=\u20000")
	f.Add("++resourceName=x")
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.TrimPrefix(text, "+")
		if strings.ContainsAny(text, "\n\r") {
			return
		}
		markers, report := parseText("+" + text)
		for _, d := range report {
			if d.Pos.Column < 1 || d.Pos.Column > len(text)+2 || d.Message == "" || strings.Contains(d.Message, "\n") {
				t.Errorf("%q: %+v", text, d)
			}
		}
		for _, m := range markers {
			for _, arg := range DefinitionOf(m).Args {
				_, values := arg.load(m)
				for _, v := range values {
					if v.IsSet() && !strings.HasPrefix(("+" + text)[v.Pos.Column-1:], v.Text) && !strings.ContainsAny(text, "\"`") {
						t.Errorf("%q: value %q isn't at column %d", text, v.Text, v.Pos.Column)
					}
				}
			}
			if e, _ := report.Split(); len(e) > 0 {
				t.Errorf("%q: a marker and an error: %v", text, e)
			}
		}
	})
}

func ExampleParse() {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "types.go", `package v1

// +genclient
// +informer:index:name=ByNode,field=.spec.nodeName
// +informer:index:nmae=ByNode
type Widget struct{}
`, parser.ParseComments)
	if err != nil {
		fmt.Println(err)
		return
	}
	var report diag.List
	for _, lines := range Scan(fset, file).Types {
		for _, index := range marker.All[marker.Index](Parse(lines, &report)) {
			fmt.Printf("%s: index %s of %s\n", index.Pos, index.Name.Text, index.Fields[0].Text)
		}
	}
	fmt.Println(report.Error())
	// Output:
	// types.go:4:4: index ByNode of .spec.nodeName
	// types.go:5:20: +informer:index: unknown argument nmae, did you mean name? (allowed: name, field, func, owner, when, namespaced, projection)
}

// load returns the field that store has set in m: its name and its values.
func (arg Arg) load(m marker.Marker) (string, []marker.Value) {
	v := reflect.ValueOf(m).Elem()
	name := v.Type().Field(arg.field).Name
	if arg.List {
		return name, v.Field(arg.field).Interface().([]marker.Value)
	}
	return name, []marker.Value{v.Field(arg.field).Interface().(marker.Value)}
}

func TestMarkersOfTheConfigFileHaveDefinitions(t *testing.T) {
	pos := token.Position{Filename: "informer-gen.yaml", Line: 3, Column: 5}
	m := &marker.Plural{At: marker.At{Name: "plural", Pos: pos}, Name: marker.Value{Text: "Moose", Pos: pos}}
	if d := DefinitionOf(m); d == nil || d.Name != "informer:plural" || d.Target != Type {
		t.Errorf("got %+v", d)
	}
	if !m.InFile() || (marker.At{Name: "+informer:plural", Pos: pos}).InFile() {
		t.Error("InFile must be true only for names without +")
	}
}
