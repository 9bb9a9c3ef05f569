// SPDX-License-Identifier: Apache-2.0

package jsondec

func (d *Decoder) managedFields(i int) int {
	in := d.in
	if in[i] != '[' {
		return -1
	}
	if i = skipSpace(in, i+1); i < len(in) && in[i] == ']' {
		return i + 1
	}
	for more := true; more; {
		if i = skipSpace(in, i); i >= len(in) || in[i] != '{' {
			return -1
		}
		if i = skip(in, i); i < 0 {
			return -1
		}
		if i, more = next(in, i, ']'); i < 0 {
			return -1
		}
	}
	return i
}
