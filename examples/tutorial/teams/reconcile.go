// SPDX-License-Identifier: Apache-2.0

package teams

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/informer-gen/informer-gen/examples/tutorial/api/v1"
	"github.com/informer-gen/informer-gen/runtime/controller"
)

// reconcile compares a Team with its desks, and writes the difference. It is called when the Team
// or one of its desks has changed, and again, later each time, after an error.
func (t *Teams) reconcile(ctx context.Context, team *v1.Team) (done controller.Result, err error) {
	if team.DeletionTimestamp != nil {
		return t.end(ctx, team)
	}
	team, _, err = t.teams.AddFinalizer(ctx, team, Finalizer)
	if err != nil {
		return done, err
	}
	desks := 0
	for _, desk := range t.made.ConfigMaps(team.Namespace).ListByTeam(team.Name) {
		if slices.Contains(team.Spec.Members, desk.Data["member"]) {
			desks++
			continue
		}
		if _, err := t.desks.Delete(ctx, desk, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return done, err
		}
	}
	for _, member := range team.Spec.Members {
		desk := t.desk(team, member)
		if _, err := t.made.ConfigMaps(desk.Namespace).Get(desk.Name); err == nil {
			continue
		}
		if _, _, err := t.desks.Create(ctx, desk); err != nil {
			return done, err
		}
	}

	_, _, err = t.teams.MutateStatus(ctx, team, func(team *v1.Team) error {
		team.Status.Desks = int32(desks)
		return nil
	})
	return done, err
}
