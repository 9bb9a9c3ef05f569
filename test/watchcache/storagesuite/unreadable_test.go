// SPDX-License-Identifier: Apache-2.0

package storagesuite

import (
	"context"
	"errors"

	"k8s.io/apiserver/pkg/storage/value"
)

// errCorrupt is why a pod can't be read.
var errCorrupt = errors.New("bits flipped")

// unreader is a transformer that reads everything as the same, or not at all.
type unreader struct {
	value.Transformer
	data []byte
	err  error
}

// unreadable is what a pod that can't be read is read as: as nothing, or as what is no pod.
var unreadable = []unreader{{err: errCorrupt}, {data: []byte("no pod")}}

// TransformFromStorage implements [value.Transformer].
func (r unreader) TransformFromStorage(context.Context, []byte, value.Context) (data []byte, stale bool, err error) {
	return r.data, false, r.err
}

// failing returns a function that makes pods be read by r, or as they are.
func (s *store) failing(r unreader) func(bool) {
	whole := s.using.Load()
	r.Transformer = whole
	return func(fail bool) {
		if fail {
			s.using.Store(&usedFor{r})
		} else {
			s.using.Store(whole)
		}
	}
}
