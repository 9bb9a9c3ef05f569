// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"strings"
	"testing"
)

func TestShardRejects(t *testing.T) {
	const a, b = "'0x0000000000000000'", "'0x8000000000000000'"
	uid := func(start, end string) string { return "shardRange(object.metadata.uid, " + start + ", " + end + ")" }
	for selector, text := range map[string]string{
		"x":                               "form",
		uid(a, b) + " && " + uid(b, a):    "arguments",
		uid(a, b) + " || ":                "form",
		"shardRange(" + a + "," + b + ")": "2 arguments",
		strings.Replace(uid(a, b), "object.metadata.uid", "metadata.uid", 1):                                 "neither",
		uid(a, b) + "||" + strings.Replace(uid(a, b), "object.metadata.uid", "object.metadata.namespace", 1): "two fields",
		uid(b, a):                       "empty",
		uid(a, a):                       "empty",
		uid("'0x10000000000000000'", b): "empty",
		uid(a, "'0x8'"):                 "16",
		uid(a, "0x8000000000000000"):    "16",
		uid(a, "'0x800000000000000G'"):  "16",
		uid(a, "'0xF000000000000000'"):  "16",
		uid(a, "'0x20000000000000000'"): "16",
		uid("''", b):                    "16",
	} {
		if _, err := parseShard(selector); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: got %v, want …%s…", selector, err, text)
		}
	}
	for _, selector := range []string{"", "  "} {
		if s, err := parseShard(selector); s != nil || err != nil {
			t.Errorf("%q: got %v, %v", selector, s, err)
		}
	}
}
