// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"fmt"
	"io"
)

const (
	// maxItem bounds the size of one object or event. What a server can store is a hundred times
	// smaller.
	maxItem = 256 << 20
	// maxProtoEvent bounds the size of an event in protobuf, where the size comes first. It is
	// smaller, so that four bytes of text that are read as a size exceed it.
	maxProtoEvent = 16 << 20
)

// checkSize refuses a length over maxItem.
func checkSize(n uint64) error {
	if n > maxItem {
		return fmt.Errorf("%w: %d bytes in one piece, more than %d", ErrMalformed, n, maxItem)
	}
	return nil
}

// cutOff returns the error of a stream that ends within a value.
func cutOff(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// refused returns the error of bytes that package cborwire or protowire refuses with err, which may
// be nil.
func refused(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrMalformed, err)
}
