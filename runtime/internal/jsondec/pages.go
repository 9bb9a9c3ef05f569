// SPDX-License-Identifier: Apache-2.0

package jsondec

// pages is a list of pointers with memory only for used pages: plans are numbered in the whole
// process, and a Decoder uses few of them.
type pages[T any] []*[pageSize]*T

const pageSize = 16

func (p pages[T]) get(n uint32) *T {
	if at := int(n / pageSize); at < len(p) && p[at] != nil {
		return p[at][n%pageSize]
	}
	return nil
}

func (p *pages[T]) set(n uint32, v *T) *T {
	at := int(n / pageSize)
	if short := at + 1 - len(*p); short > 0 {
		*p = append(*p, make([]*[pageSize]*T, short)...)
	}
	if (*p)[at] == nil {
		(*p)[at] = new([pageSize]*T)
	}
	(*p)[at][n%pageSize] = v
	return v
}
