// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"os"
	"strings"
)

const markerEnd = "<!-- /bench -->\n"

// writeInto replaces the text of a file between the line begin and the next markerEnd.
func writeInto(path, begin, text string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%w; run it in the root of the repository", err)
	}
	before, rest, ok := strings.Cut(string(content), begin+"\n")
	_, after, ended := strings.Cut(rest, markerEnd)
	if !ok || !ended {
		return fmt.Errorf("%s has no line %s with a line %s behind it", path, begin, strings.TrimSpace(markerEnd))
	}
	return os.WriteFile(path, []byte(before+begin+"\n"+text+markerEnd+after), 0o644)
}
