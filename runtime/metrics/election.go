// SPDX-License-Identifier: Apache-2.0

package metrics

// ElectionProvider receives the metrics of elections. It serves any number of elections.
type ElectionProvider interface {
	// BeginElection is called when this process begins to take part in an election. name is that of
	// the Lease; leading reports whether this process leads. The returned function must not be nil;
	// it is called once, when the process takes part no longer.
	BeginElection(name string, leading func() bool) (end func())
}
