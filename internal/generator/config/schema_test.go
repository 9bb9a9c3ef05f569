// SPDX-License-Identifier: Apache-2.0

package config

import (
	"bytes"
	"flag"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	nodes "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "rewrite the schema")

const schemaFile = "../../../informer-gen.schema.json"

func TestSchemaIsUpToDate(t *testing.T) {
	if *update {
		if err := os.WriteFile(schemaFile, schemaText(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	checkedIn, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	checkedIn = bytes.ReplaceAll(checkedIn, []byte("\r\n"), []byte("\n"))
	if diff := cmp.Diff(string(schemaText()), string(checkedIn)); diff != "" {
		t.Errorf("go test ./internal/generator/config -run Schema -update rewrites it (-want +got):\n%s", diff)
	}
}

// TestSchemaAgreesWithParse checks the same files by both.
func TestSchemaAgreesWithParse(t *testing.T) {
	schema := compileSchema(t)
	check := func(text string) (parse, schemaErr error) {
		if _, wrong := Parse("f.yaml", []byte(text)); len(wrong) > 0 {
			parse = wrong
		}
		var value any
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			return parse, err
		}
		return parse, schema.Validate(value)
	}
	for _, text := range rightFiles() {
		if parse, err := check(text); parse != nil || err != nil {
			t.Errorf("%s\nParse: %v\nschema: %v", text, parse, err)
		}
	}
	for _, test := range wrongFiles {
		if parse, err := check(test.text); parse == nil || err == nil && !test.unseen {
			t.Errorf("%q\nParse: %v\nschema: %v", test.text, parse, err)
		}
	}
	// Put each wrong value in each place of a correct file.
	for _, wrong := range []string{"7", "a text", "", "null", "true", "[]", "[[a]]", "[7]", "{}", "{unknown: 1}", "[{unknown: 1}]", "1.5"} {
		for _, path := range paths(t) {
			text := replaced(t, path, wrong)
			parse, err := check(text)
			if parse != nil && strings.Contains(parse.Error(), "left out by only") {
				continue // a schema can't express that
			}
			if (parse == nil) != (err == nil) {
				t.Errorf("%v: %s\nParse: %v\nschema: %v", path, wrong, parse, err)
			}
		}
	}
}

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemaText()))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(SchemaID, document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile(SchemaID) // checks it against that of draft 2020-12
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// rightFiles returns the full file, the shortest one, and the full file without each of the keys.
func rightFiles() []string {
	files := []string{full, "version: 1\n", "{version: 1}", "version: 1\nheaderYear: 2024-2026\n", "version: 1\ninputs: ./...\n"}
	for _, key := range keys(reflect.TypeFor[File]()) {
		var lines []string
		for line := range strings.Lines(full) {
			if !strings.HasPrefix(line, key+":") || key == "version" || key == "packages" {
				lines = append(lines, line)
			}
		}
		files = append(files, strings.Join(lines, ""))
	}
	return files
}

// paths returns the paths of all values in the full file, as indexes of nodes.
func paths(t *testing.T) [][]int {
	var all [][]int
	var walk func(node *nodes.Node, path []int)
	walk = func(node *nodes.Node, path []int) {
		for i, child := range node.Content {
			if node.Kind == nodes.MappingNode && i%2 == 0 {
				continue
			}
			next := append(slices.Clone(path), i)
			all = append(all, next)
			walk(child, next)
		}
	}
	walk(fullNode(t), nil)
	return all
}

// replaced returns the full file with another value at a path.
func replaced(t *testing.T, path []int, value string) string {
	root := fullNode(t)
	at := root
	for _, i := range path {
		at = at.Content[i]
	}
	var document nodes.Node
	if err := nodes.Unmarshal([]byte(value), &document); err != nil {
		t.Fatal(err)
	}
	if document.Kind == nodes.DocumentNode {
		*at = *document.Content[0]
	} else {
		*at = nodes.Node{Kind: nodes.ScalarNode, Tag: "!!str", Style: nodes.DoubleQuotedStyle}
	}
	text, err := nodes.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func fullNode(t *testing.T) *nodes.Node {
	t.Helper()
	var document nodes.Node
	if err := nodes.Unmarshal([]byte(full), &document); err != nil {
		t.Fatal(err)
	}
	return document.Content[0]
}
