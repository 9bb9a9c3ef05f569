// SPDX-License-Identifier: Apache-2.0

package teams

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/informer-gen/informer-gen/examples/tutorial/api/v1"
)

// desk returns the desk of a member. Its owner is the Team: its events queue the Team, and the
// garbage collector deletes it after the Team.
func (t *Teams) desk(team *v1.Team, member string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       team.Namespace,
			Name:            fmt.Sprintf("desk-%s-%s", team.Name, member),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(team, t.kind)},
		},
		Data: map[string]string{"member": member},
	}
}
