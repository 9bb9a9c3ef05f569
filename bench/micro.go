// SPDX-License-Identifier: Apache-2.0

package main

import "slices"

// microBenches are those that need no server.
func microBenches() []bench {
	return slices.Concat(eventBenches(), updateBenches(), getBenches(), readersBenches(), listBenches(),
		growthBenches(), overheadBenches(), lateBenches(), relistBlockBenches(), stallBenches(), idleBenches(), emptyBenches())
}
