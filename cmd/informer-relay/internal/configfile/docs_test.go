// SPDX-License-Identifier: Apache-2.0

package configfile

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestDocsDescribeEveryKey checks that docs/relay.md describes each key, and that its
// configurations are valid.
func TestDocsDescribeEveryKey(t *testing.T) {
	data, err := os.ReadFile("../../../../docs/relay.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for _, keys := range keysByType {
		for _, key := range keys {
			if !regexp.MustCompile("(?m)^\\|.*`[a-z….]*" + key + "[`.]").MatchString(page) {
				t.Errorf("no table of docs/relay.md has the key %q", key)
			}
		}
	}
	found := 0
	for i, block := range strings.Split(page, "```") {
		if text, ok := strings.CutPrefix(block, "yaml\nlisten:"); i%2 == 1 && ok {
			found++
			if _, err := Parse("relay.md", []byte("listen:"+text)); err != nil {
				t.Error(err)
			}
		}
	}
	if found == 0 {
		t.Error("docs/relay.md has no configuration")
	}
}
