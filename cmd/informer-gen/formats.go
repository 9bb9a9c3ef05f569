// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/spf13/cobra"

func newFormats() *cobra.Command {
	return &cobra.Command{
		Use:   "formats",
		Short: "What --format=text, json and github print",
		Long: `Findings, which are errors and warnings about the input, and the differences that diff and --check look for are shown in
one of three formats.

text prints findings to standard error, sorted, one a line:

  FILE:LINE:COLUMN: [warning: ][MARKER: ]MESSAGE[ (allowed: A, B)]

and differences as a unified diff to standard output, each file's after a line "missing: FILE", "changed: FILE" or
"stale: FILE". Names of files are relative to the working directory where that makes them shorter.

json prints one document to standard output, whatever the outcome:

  {
    "findings": [
      {
        "file": "api/v1/types.go",   left out, like line and column, if the finding is about the call
        "line": 31,                  from 1
        "column": 4,                 in bytes, from 1
        "severity": "error",         or "warning"
        "marker": "+genclient:onlyVerbs",              left out if the finding is about none
        "message": "verb \"lst\" isn't known, did you mean list?",
        "allowed": ["get", "list", "watch"],           left out if there is no such list
        "suggestion": "list"                           left out if nothing is near
      }
    ],
    "changes": [                     of diff and --check
      {
        "kind": "changed",           or "missing", "stale"
        "file": "generated/informers/factory.go",
        "line": 12                   the first that differs, of changed files
      }
    ]
  }

github prints what text prints to standard output, with each finding, and each file that differs, as a command that
GitHub's workflows turn into an annotation:

  ::error file=api/v1/types.go,line=31,col=4,title=+genclient%3AonlyVerbs::verb "lst" isn't known

There, names of files are relative to the folder that the environment variable GITHUB_WORKSPACE names.

list and explain know text and json. Their document is

  {
    "config": "informer-gen.yaml",   left out if there is none
    "output": "generated",           left out, like config, if the call or the configuration is wrong
    "types": [
      {
        "kind": "Widget",
        "package": "example.com/shop/api/v1",
        "file": "api/v1/types.go", "line": 12, "column": 6,
        "generated": true,
        "reason": FACT,
        "advice": "add +genclient above it",         left out if there is none
        "group": FACT, "groupGoName": FACT, "version": FACT, "resource": FACT, "plural": FACT, "scope": FACT,
        "indexes": [{"name": "ByNode", "key": "string", "of": "field .spec.nodeName", "namespaced": true,
                     "file": "api/v1/types.go", "line": 10, "column": 4}],
        "accessor": "factory.Shop().V1().Widgets()",
        "files": ["informers/shop/v1/widget.go"]     in the output
      }
    ],
    "findings": []                   as above
  }

where a FACT is {"value": "widgets", "from": "+resourceName", "file": "api/v1/types.go", "line": 11, "column": 4}, and
from is a marker, a key of informer-gen.yaml, a flag, or the words of a rule, which has no place. What follows advice is
there for types that something is generated for.

fields knows text and json, too. Its document is

  {
    "kinds": [
      {
        "kind": "Pod", "package": "k8s.io/api/core/v1",
        "from": [{"file": "pods.go", "line": 30, "column": 41}],   where the program has objects from
        "uses": [
          {
            "path": ".spec.nodeName",          "" is the whole object
            "how": "read",                     or "present", "whole", "recursive", "written back", "not followed"
            "why": "given to fmt.Println",     left out if it is read or present
            "file": "pods.go", "line": 35, "column": 18
          }
        ],
        "projection": {                        left out if a whole object is used at once
          "fields": [".spec.nodeName"],
          "marker": "+informer:project:name=PodFields,fields=.spec.nodeName",   left out if fields is empty
          "entry": "- path: k8s.io/api/core/v1\n …"                              the same for informer-gen.yaml
        },
        "gains": [                             left out if there are none
          {
            "without": [],                     uses as above that have to go, for this gain and those behind it
            "fields": [".spec.nodeName"],      what the projection would have then
            "kept": 1, "total": 996            strings, numbers and the like in these fields, and in the kind
          }
        ]
      }
    ],
    "unknown": [],                             uses of objects whose kind isn't known
    "findings": []                             as above: why there is nothing else
  }

where files of other modules begin with the import path of their package.`,
	}
}
