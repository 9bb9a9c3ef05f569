// SPDX-License-Identifier: Apache-2.0

package syntax

import "github.com/informer-gen/informer-gen/internal/generator/marker"

// Markers that mean nothing to informers, and whose arguments are checked all the same.

// clientGen is for clientsets, which informers don't need; it means nothing to them.
type clientGen struct {
	marker.At
	Value marker.Value `arg:"" required:"true" allowed:"true false" doc:"means nothing to informers"`
}

// noStatus is for clientsets; it means nothing to informers.
type noStatus struct{ marker.At }

// method is for clientsets; it means nothing to informers.
type method struct {
	marker.At
	Name        marker.Value `arg:"" required:"true" doc:"the name of an additional client method"`
	Verb        marker.Value `arg:"verb" doc:"the verb that it stands for"`
	Subresource marker.Value `arg:"subresource" doc:"the subresource that it works on"`
	Input       marker.Value `arg:"input" doc:"the type that it takes"`
	Result      marker.Value `arg:"result" doc:"the type that it returns"`
}
