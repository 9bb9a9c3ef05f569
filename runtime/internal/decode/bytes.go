// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"fmt"
	"io"
)

// maxItem bounds the size of one object or event after gzip, which makes a gigabyte of a megabyte.
// An API server stores objects of 1.5 MB, with etcd's usual limit. Four bytes of text, misread as
// the size of a protobuf event, are larger, too.
const maxItem = 16 << 20

func checkSize(n uint64) error {
	if n > maxItem {
		return fmt.Errorf("%w: a value of %d bytes, more than the limit of %d", ErrMalformed, n, maxItem)
	}
	return nil
}

func unexpectedEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// malformedWire wraps err, which may be nil, of package protowire.
func malformedWire(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrMalformed, err)
}
