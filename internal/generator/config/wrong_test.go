// SPDX-License-Identifier: Apache-2.0

package config

// wrongFile is a file with its errors.
type wrongFile struct {
	text, want string
	// unseen means that a JSON schema can't find the error.
	unseen bool
}

var wrongFiles = []wrongFile{
	{text: "", want: `f.yaml:1:1: the file is empty: begin it with version: 1`},
	{text: "# nothing\n", want: `f.yaml:1:1: the file is empty: begin it with version: 1`},
	{text: "- version: 1\n", want: `f.yaml:1:1: the file is a list, but must be a mapping that begins with version: 1`},
	{text: "output: x\n", want: `f.yaml:1:1: key version is missing: begin the file with version: 1`},
	{text: "version: 2\nfuture: {}\n", want: `f.yaml:1:10: version: version 2 isn't known: this informer-gen reads version 1`},
	{text: "version: \"1\"\n", want: `f.yaml:1:10: version: the value is a string, but must be an integer (allowed: 1)`},
	{text: "version:\n", want: `f.yaml:1:9: version: the value is missing: add one, or remove the key (allowed: 1)`},
	{text: "version: 1\ninptus: [a]\n", want: `f.yaml:2:1: unknown key inptus, did you mean inputs? (allowed: ` + allKeys + `)`},
	{text: "version: 1\nOutput: a\n", want: `f.yaml:2:1: unknown key Output, did you mean output? (allowed: ` + allKeys + `)`},
	{text: "version: 1\noutput: a\nprune: true\noutput: b\n", want: `f.yaml:4:1: duplicate key output, already in line 2`, unseen: true},
	{text: "version: 1\nlayout: singel\n", want: `f.yaml:2:9: layout: "singel" isn't known, did you mean single? (allowed: grouped, single)`},
	{text: "version: 1\nprune: sure\n", want: `f.yaml:2:8: prune: the value is a string, but must be true or false (allowed: true, false)`},
	{text: "version: 1\nprune: \"true\"\n", want: `f.yaml:2:8: prune: the value is a string, but must be true or false (allowed: true, false)`},
	{text: "version: 1\noutput: 7\n", want: `f.yaml:2:9: output: the value is a number, but must be a string: put it in quotes`},
	{text: "version: 1\noutput: [a]\n", want: `f.yaml:2:9: output: the value is a list, but must be a string`},
	{text: "version: 1\noutput: \"\"\n", want: `f.yaml:2:9: output: the value is empty: add one, or remove the key`},
	{text: "version: 1\ninputs:\n", want: `f.yaml:2:8: inputs: the value is missing: add one, or remove the key`},
	{text: "version: 1\ninputs: []\n", want: `f.yaml:2:9: inputs: the list is empty: add an element, or remove the key`},
	{text: "version: 1\ninputs: {a: b}\n", want: `f.yaml:2:9: inputs: the value is a mapping, but must be a list`},
	{text: "version: 1\ninputs:\n- a\n- 7\n-\n", want: "f.yaml:4:3: inputs: the value is a number, but must be a string: put it in quotes\n" +
		`f.yaml:5:2: inputs: the value is missing: add one, or remove the key`},
	{text: "version: 1\nplurals: [a]\n", want: `f.yaml:2:10: plurals: the value is a list, but must be a mapping`},
	{text: "version: 1\nplurals: {}\n", want: `f.yaml:2:10: plurals: the mapping is empty: add an entry, or remove the key`},
	{text: "version: 1\nplurals: {A: 1, B: Bs, B: Bes}\n", want: "f.yaml:2:14: plurals: the value is a number, but must be a string: put it in quotes\n" +
		`f.yaml:2:24: duplicate key B, already in line 2`},
	{text: "version: 1\nplurals: {1: As}\n", want: `f.yaml:2:11: the key isn't a string: put it in quotes`, unseen: true},
	{text: "version: 1\nplurals: {Yes: As}\n", want: `f.yaml:2:11: the key isn't a string: put it in quotes`, unseen: true},
	{text: "version: 1\npackages: {path: a}\n", want: `f.yaml:2:11: packages: the value is a mapping, but must be a list`},
	{text: "version: 1\npackages: [a]\n", want: `f.yaml:2:12: packages: the value is a string, but must be a mapping with the keys path, groupName, groupGoName, versionName, discover, only, kinds`},
	{text: "version: 1\npackages:\n- groupName: a\n", want: `f.yaml:3:3: key path is missing`},
	{text: "version: 1\npackages:\n- path: a\n- path: b\n- path: a\n", want: `f.yaml:5:9: path: duplicate package a, already in line 3`, unseen: true},
	{text: "version: 1\npackages:\n- path: a\n  only: [B, B]\n", want: `f.yaml:4:13: only: duplicate kind B, already in line 4`, unseen: true},
	{text: "version: 1\npackages:\n- path: a\n  kinds:\n  - {name: B}\n  - {name: B}\n", want: `f.yaml:6:12: name: duplicate kind B, already in line 5`, unseen: true},
	{text: "version: 1\npackages:\n- path: a\n  only: B\n  kinds:\n  - {name: C}\n", want: `f.yaml:6:12: name: kind C is left out by only in line 4, which doesn't list it`, unseen: true},
	{text: "version: 1\npackages:\n- path: a\n  kinds:\n  - {name: B, scope: cluster}\n",
		want: `f.yaml:5:22: scope: "cluster" isn't known, did you mean Cluster? (allowed: Namespaced, Cluster)`},
	{text: "version: 1\npackages:\n- path: a\n  kinds:\n  - name: B\n    indexes: [{nam: C, field: 7}]\n",
		want: "f.yaml:6:15: key name is missing\n" +
			"f.yaml:6:16: unknown key nam, did you mean name? (allowed: name, field, func, owner, when, namespaced, projection)\n" +
			"f.yaml:6:31: field: the value is a number, but must be a string: put it in quotes"},
	{text: "version: 1\npackages:\n- path: a\n  kinds:\n  - name: B\n    indexes: [{name: C, field: .c, namespaced: \"true\"}]\n",
		want: "f.yaml:6:48: namespaced: the value is a string, but must be true or false (allowed: true, false)"},
	{text: "version: 1\noutput: &x 7\nheader: *x\n", want: "f.yaml:2:9: header: the value is a number, but must be a string: put it in quotes\n" +
		`f.yaml:2:9: output: the value is a number, but must be a string: put it in quotes`},
	{text: "version: 1\nplurals: &x {A: As}\n<<: *x\n", want: `f.yaml:2:14: unknown key A (allowed: ` + allKeys + `)`},
	{text: "version: 1\nplurals:\n  \"a\\nb\": c\n  \"a\\nb\": d\n", want: `f.yaml:4:3: duplicate key "a\nb", already in line 3`, unseen: true},
	{text: "version: 1\npackages:\n- path: \"a\\nb\"\n- path: \"a\\nb\"\n", want: `f.yaml:4:10: path: duplicate package "a\nb", already in line 3`, unseen: true},
	{text: "version: 1\n\"out\\nput\": a\n", want: `f.yaml:2:1: unknown key "out\nput", did you mean output? (allowed: ` + allKeys + `)`, unseen: true},
	{text: "version: 1\n<<: 7\n", want: `f.yaml:1:1: invalid YAML: map merge requires map or sequence of maps as the value`, unseen: true},
	{text: "version: 1\noutput: &x [*x]\n", want: `f.yaml:1:1: invalid YAML: anchor 'x' value contains itself`, unseen: true},
	{text: "version: 1\n---\nversion: 1\n", want: `f.yaml:2:1: the file has a second document: it can have only one`, unseen: true},
	{text: "version: 1\noutput: [a\n", want: `f.yaml:1:1: invalid YAML: did not find expected ',' or ']'`, unseen: true},
	{text: "version: 1\n\toutput: a\n", want: `f.yaml:2:2: invalid YAML: found a tab character that violates indentation`, unseen: true},
	{text: "version: 1\noutput: \xff\n", want: `f.yaml:2:9: the file isn't UTF-8`, unseen: true},
	{text: "\uFEFFversion: 1\noutput: ü ü\nlayout: \"ü\"\nprune: ü\n", want: `f.yaml:3:9: layout: "ü" isn't known (allowed: grouped, single)` + "\n" +
		`f.yaml:4:8: prune: the value is a string, but must be true or false (allowed: true, false)`, unseen: true},
	// Columns are bytes, and the file may have come from Windows.
	{text: "version: 1\r\nplurals: {ü: 1}\r\n", want: `f.yaml:2:15: plurals: the value is a number, but must be a string: put it in quotes`},
}

const allKeys = "version, inputs, output, layout, controllers, applyConfigurations, header, headerYear, tags, crds, discover, plurals, keepGoing, prune, allowEmpty, packages"
