// SPDX-License-Identifier: Apache-2.0

package storagesuite

import (
	"context"
	"errors"

	"k8s.io/apiserver/pkg/storage/value"
)

// errCorrupt is the error of an unreadable pod.
var errCorrupt = errors.New("bits flipped")

// corruptReader is a transformer that reads the same data or error in place of everything.
type corruptReader struct {
	value.Transformer
	data []byte
	err  error
}

// unreadable are the two kinds of unreadable pods: an error, and data of another form.
var unreadable = []corruptReader{{err: errCorrupt}, {data: []byte("no pod")}}

// TransformFromStorage implements [value.Transformer].
func (r corruptReader) TransformFromStorage(context.Context, []byte, value.Context) (data []byte, stale bool, err error) {
	return r.data, false, r.err
}

// failing returns a function that switches between r and the present transformer.
func (s *store) failing(r corruptReader) func(bool) {
	old := s.current.Load()
	r.Transformer = old
	return func(fail bool) {
		if fail {
			s.current.Store(&transformerBox{r})
		} else {
			s.current.Store(old)
		}
	}
}
