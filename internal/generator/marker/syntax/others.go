// SPDX-License-Identifier: Apache-2.0

package syntax

import "github.com/informer-gen/informer-gen/internal/generator/marker"

// Markers without meaning for informers; their arguments are checked all the same.

type clientGen struct {
	marker.At
	Value marker.Value `arg:"" required:"true" allowed:"true false" doc:"not used by informers"`
}

type noStatus struct{ marker.At }

type method struct {
	marker.At
	Name        marker.Value `arg:"" required:"true" doc:"the name of an additional client method"`
	Verb        marker.Value `arg:"verb" doc:"the verb that it stands for"`
	Subresource marker.Value `arg:"subresource" doc:"the subresource that it works on"`
	Input       marker.Value `arg:"input" doc:"the type that it takes"`
	Result      marker.Value `arg:"result" doc:"the type that it returns"`
}
