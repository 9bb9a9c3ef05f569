// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/spf13/cobra"

func newFormats() *cobra.Command {
	return &cobra.Command{
		Use:   "formats",
		Short: "Describe the formats text, json and github",
		Long: `There are three formats for findings (errors and warnings about the input) and for the differences that diff and --check
find.

text prints findings to standard error, sorted, one per line:

  FILE:LINE:COLUMN: [warning: ][MARKER: ]MESSAGE[ (allowed: A, B)]

and differences to standard output as a unified diff, with a line "missing: FILE", "changed: FILE" or "stale: FILE"
before each file. File names are relative to the working directory if that is shorter.

json prints one document to standard output, whatever the outcome:

  {
    "findings": [
      {
        "file": "api/v1/types.go",   omitted, like line and column, if the finding is about the command line
        "line": 31,                  from 1
        "column": 4,                 in bytes, from 1
        "severity": "error",         or "warning"
        "marker": "+genclient:onlyVerbs",              omitted if the finding isn't about a marker
        "message": "verb \"lst\" isn't known, did you mean list?",
        "allowed": ["get", "list", "watch"],           omitted if there is no such list
        "suggestion": "list"                           omitted if no value is close
      }
    ],
    "changes": [                     of diff and --check
      {
        "kind": "changed",           or "missing", "stale"
        "file": "generated/informers/factory.go",
        "line": 12                   the first different line, of changed files
      }
    ]
  }

github prints to standard output the unified diff and, for each finding and each file that differs, a command that
GitHub workflows turn into an annotation:

  ::error file=api/v1/types.go,line=31,col=4,title=+genclient%3AonlyVerbs::verb "lst" isn't known

Its file names are relative to the folder in the environment variable GITHUB_WORKSPACE.

list and explain have the formats text and json. Their JSON document is

  {
    "config": "informer-gen.yaml",   omitted if there is none
    "output": "generated",           omitted, like config, if the command line or the configuration is wrong
    "types": [
      {
        "kind": "Widget",
        "package": "example.com/shop/api/v1",
        "file": "api/v1/types.go", "line": 12, "column": 6,
        "generated": true,
        "reason": FACT,
        "advice": "add +genclient above it",         omitted if there is none
        "group": FACT, "groupGoName": FACT, "version": FACT, "resource": FACT, "plural": FACT, "scope": FACT,
        "indexes": [{"name": "ByNode", "key": "string", "of": "field .spec.nodeName", "namespaced": true,
                     "file": "api/v1/types.go", "line": 10, "column": 4}],
        "accessor": "factory.Shop().V1().Widgets()",
        "files": ["informers/shop/v1/widget.go"]     in the output
      }
    ],
    "findings": []                   as above
  }

A FACT is {"value": "widgets", "from": "+resourceName", "file": "api/v1/types.go", "line": 11, "column": 4}. Its from is
a marker, a key of informer-gen.yaml, a flag, or a rule in words, which has no position. Only generated types have the
members after advice.

fields has the formats text and json, too. Its JSON document is

  {
    "kinds": [
      {
        "kind": "Pod", "package": "k8s.io/api/core/v1",
        "from": [{"file": "pods.go", "line": 30, "column": 41}],   where the program gets objects
        "uses": [
          {
            "path": ".spec.nodeName",          "" is the whole object
            "how": "read",                     or "present", "whole", "recursive", "written back", "not followed"
            "why": "given to fmt.Println",     omitted for "read" and "present"
            "file": "pods.go", "line": 35, "column": 18
          }
        ],
        "projection": {                        omitted if a whole object is used at once
          "fields": [".spec.nodeName"],
          "marker": "+informer:project:name=PodFields,fields=.spec.nodeName",   omitted if fields is empty
          "entry": "- path: k8s.io/api/core/v1\n …"                              the same for informer-gen.yaml
        },
        "gains": [                             omitted if there are none
          {
            "without": [],                     uses as above to remove, for this gain and all later ones
            "fields": [".spec.nodeName"],      the projection's fields without them
            "kept": 1, "total": 996            number of strings, numbers and the like in these fields, and in the kind
          }
        ]
      }
    ],
    "unknown": [],                             uses of objects of unknown kinds
    "findings": []                             as above; with an error, the rest is empty
  }

File names of other modules begin with the import path of their package.`,
	}
}
