// SPDX-License-Identifier: Apache-2.0

// Package keys has the function of indexes of Shape.
package keys

import api "github.com/informer-gen/informer-gen/generator/random/api/shapes"

// Keys returns the pairs of a Shape.
func Keys(s *api.Shape) []api.Pair { return s.Spec.Pairs }
