// SPDX-License-Identifier: Apache-2.0

package jsondec

// start is the beginning of a member without white space: the name in quotes and a colon.
type start string

func newStart(name string) start { return start(`"` + name + `":`) }

func (s start) name() string { return string(s[1 : len(s)-2]) }

// end returns the index after the start at in[i], or 0 if there is none.
func (s start) end(in []byte, i int) int {
	if end := i + len(s); end <= len(in) && string(in[i:end]) == string(s) {
		return end
	}
	return 0
}
