// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"io"
	"testing"

	"github.com/informer-gen/informer-gen/runtime/object"
)

func TestTransformError(t *testing.T) {
	err := &TransformError{Key: object.Key{Namespace: "shop", Name: "blue"}, Err: io.ErrNoProgress}
	if want := "transform shop/blue: " + io.ErrNoProgress.Error(); err.Error() != want || !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("got %q, want %q", err, want)
	}
}
