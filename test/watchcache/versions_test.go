// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// versions are the resourceVersions of a history in order, with their names.
type versions struct {
	names   []string
	numbers []uint64
}

func (v *versions) add(name string, number uint64) {
	v.names, v.numbers = append(v.names, name), append(v.numbers, number)
}

// name returns the name of a version, relative to the last named version up to it: head, or head+1.
// Versions before all named ones remain numbers, except for the one just before.
func (v *versions) name(text string) string {
	number, err := strconv.ParseUint(text, 10, 64)
	if err != nil || len(v.numbers) == 0 {
		return text
	}
	if number+1 == v.numbers[0] {
		return v.names[0] + "-1"
	}
	name := text
	for i, n := range v.numbers {
		switch {
		case n == number:
			return v.names[i]
		case n < number:
			name = fmt.Sprintf("%s+%d", v.names[i], number-n)
		}
	}
	return name
}

var versionName = regexp.MustCompile(`^([a-z0-9]+?)(?:([+-])([0-9]+))?$`)

// number returns the version with a name returned by name, and false for other names.
func (v *versions) number(name string) (text string, ok bool) {
	m := versionName.FindStringSubmatch(name)
	if m == nil {
		return "", false
	}
	offset, _ := strconv.ParseUint(m[3], 10, 64)
	if m[2] == "-" {
		offset = -offset
	}
	for i, known := range v.names {
		if known == m[1] {
			return strconv.FormatUint(v.numbers[i]+offset, 10), true
		}
	}
	return "", false
}

var inMessage = regexp.MustCompile(`(resource version: |current: )([0-9]+)(?: \(([0-9]+)\))?`)

// inText replaces the versions in a message by names. A cache's oldest version, in brackets, may
// belong to a write without a name.
func (v *versions) inText(message string) string {
	return inMessage.ReplaceAllStringFunc(message, func(found string) string {
		m := inMessage.FindStringSubmatch(found)
		text := m[1] + v.name(m[2])
		switch oldest := v.name(m[3]); {
		case strings.Contains(oldest, "+"):
			text += " (…)"
		case oldest != "":
			text += " (" + oldest + ")"
		}
		return text
	})
}
