// SPDX-License-Identifier: Apache-2.0

package jsondec

// memberPrefix is the beginning of a member without white space: the name in quotes and a colon.
type memberPrefix string

func newMemberPrefix(name string) memberPrefix { return memberPrefix(`"` + name + `":`) }

func (s memberPrefix) name() string { return string(s[1 : len(s)-2]) }

// end returns the index after the prefix at in[i], or 0 if it isn't there.
func (s memberPrefix) end(in []byte, i int) int {
	if end := i + len(s); end <= len(in) && string(in[i:end]) == string(s) {
		return end
	}
	return 0
}
