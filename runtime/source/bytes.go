// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"io"
)

const (
	// maxItem is the size of one object or event that nobody means. What a server stores is a
	// hundred times smaller.
	maxItem = 256 << 20
	// maxFrame is the size of such an event in a format that says it beforehand. Four bytes of text
	// in the place of a size are more.
	maxFrame = 16 << 20
)

// checkSize refuses a length that nobody means.
func checkSize(n uint64) error {
	if n > maxItem {
		return fmt.Errorf("%w: %d bytes in one piece, more than %d", ErrMalformed, n, maxItem)
	}
	return nil
}

// cutOff is the error of a stream that ends within a value.
func cutOff(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
