// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"

	"github.com/informer-gen/informer-gen/bench/harness"
)

// microBenches are those that need no server.
func microBenches() []harness.Bench {
	return slices.Concat(eventBenches(), updateBenches(), getBenches(), readersBenches(), listBenches(),
		growthBenches(), overheadBenches(), lateBenches(), relistBlockBenches(), stallBenches(), idleBenches(), emptyBenches(), queueBenches(), controllerBenches())
}
