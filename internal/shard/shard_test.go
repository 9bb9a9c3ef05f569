// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The hashes in TestHas agree with apimachinery's package sharding.
func TestHas(t *testing.T) {
	const low, high = "0x0000000000000000", "0x10000000000000000"
	shardRange := func(field, start, end string) string {
		return "shardRange(object.metadata." + field + ", '" + start + "', '" + end + "')"
	}
	for _, test := range []struct {
		selector string
		want     bool
	}{
		// the hash of uid "abc" is e71fa2190541574b, that of namespace "test" is f9e6e6ef197c2b25
		{"", true},
		{shardRange("uid", low, high), true},
		{shardRange("uid", "0xe71fa2190541574b", high), true},
		{shardRange("uid", "0xe71fa2190541574c", high), false},
		{shardRange("uid", low, "0xe71fa2190541574b"), false},
		{shardRange("uid", low, "0xe71fa2190541574c"), true},
		{shardRange("uid", low, "0x1000000000000000") + " || " + shardRange("uid", "0xe000000000000000", high), true},
		{shardRange("uid", low, "0x1000000000000000") + " || " + shardRange("uid", "0xf000000000000000", high), false},
		{shardRange("namespace", "0xf9e6e6ef197c2b25", "0xf9e6e6ef197c2b26"), true},
		{shardRange("namespace", "0xe71fa2190541574b", "0xe71fa2190541574c"), false},
	} {
		s, err := Parse(test.selector)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Has("abc", "test"); got != test.want {
			t.Errorf("Parse(%q).Has(abc, test) = %t, want %t", test.selector, got, test.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
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
		if _, err := Parse(selector); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("Parse(%q) fails with %v, want %q in the error", selector, err, text)
		}
	}
	for _, selector := range []string{"", "  "} {
		if s, err := Parse(selector); s != nil || err != nil {
			t.Errorf("Parse(%q) = %v, %v, want nil, nil", selector, s, err)
		}
	}
}
