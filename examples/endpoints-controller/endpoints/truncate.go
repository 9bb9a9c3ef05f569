// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 Endpoints are what this package is about.

package endpoints

import (
	"math"

	corev1 "k8s.io/api/core/v1"
)

const capacity = 1000

// truncate cuts subsets, in place, to capacity addresses, and reports whether there were more.
// Ready addresses stay, and the rest of the room is shared out: each subset, in turn, gets its
// share of the not ready ones, rounded up, while there is room. If there are too many ready ones,
// these share all of the room, and the others go.
func truncate(subsets []corev1.EndpointSubset) bool {
	var readyLen, notReadyLen int
	for i := range subsets {
		readyLen += len(subsets[i].Addresses)
		notReadyLen += len(subsets[i].NotReadyAddresses)
	}
	if readyLen+notReadyLen <= capacity {
		return false
	}
	room, total := capacity-readyLen, notReadyLen
	if readyLen > capacity {
		room, total = capacity, readyLen
	}
	left := room
	for i := range subsets {
		addresses := &subsets[i].NotReadyAddresses
		if readyLen > capacity {
			*addresses = nil
			addresses = &subsets[i].Addresses
		}
		// Divide first, as Kubernetes' controller does, so that both round alike.
		part := int(math.Ceil(float64(len(*addresses)) / float64(total) * float64(room)))
		part = min(part, left, len(*addresses))
		*addresses = (*addresses)[:part]
		left -= part
	}
	return true
}
