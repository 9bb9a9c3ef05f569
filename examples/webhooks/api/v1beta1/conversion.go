// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/conversion"

	v1 "github.com/informer-gen/informer-gen/examples/webhooks/api/v1"
)

// ConvertTo converts the team to v1.
func (t *Team) ConvertTo(hub conversion.Hub) error {
	to := hub.(*v1.Team)
	to.ObjectMeta = t.ObjectMeta
	to.Spec = v1.TeamSpec{Lead: t.Spec.Lead}
	for name := range strings.SplitSeq(t.Spec.Members, ",") {
		if name = strings.TrimSpace(name); name != "" {
			to.Spec.Members = append(to.Spec.Members, name)
		}
	}
	return nil
}

// ConvertFrom converts the team from v1.
func (t *Team) ConvertFrom(hub conversion.Hub) error {
	from := hub.(*v1.Team)
	t.ObjectMeta = from.ObjectMeta
	t.Spec = TeamSpec{Members: strings.Join(from.Spec.Members, ","), Lead: from.Spec.Lead}
	return nil
}
