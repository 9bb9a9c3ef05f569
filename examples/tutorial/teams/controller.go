// SPDX-License-Identifier: Apache-2.0

// Package teams gives the members of teams their desks.
package teams

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/informer-gen/informer-gen/examples/tutorial/api/v1"
	"github.com/informer-gen/informer-gen/examples/tutorial/generated/informers"
	corelisters "github.com/informer-gen/informer-gen/examples/tutorial/generated/listers/core/v1"
	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/writer"
)

// Finalizer keeps a deleted Team until its door is locked.
const Finalizer = "tutorial.example.com/door"

// Teams makes a desk for each member of a Team.
type Teams struct {
	kind  schema.GroupVersionKind
	teams *writer.Writer[*v1.Team]
	desks *writer.Writer[*corev1.ConfigMap]
	made  corelisters.ConfigMapLister
	lock  func(ctx context.Context, team string) error
}

// New returns the controller. It reads by factory and writes by client. lock is called before a
// deleted Team goes; if it fails, it is called again later.
func New(factory informers.SharedInformerFactory, client *source.Client, lock func(ctx context.Context, team string) error) (*controller.Controller, error) {
	teams, desks := factory.Tutorial().V1().Teams(), factory.Core().V1().ConfigMaps()
	options := writer.Options{FieldManager: "teams"}
	writeTeams, err := controller.Writer(client, teams, options)
	if err != nil {
		return nil, err
	}
	writeDesks, err := controller.Writer(client, desks, options)
	if err != nil {
		return nil, err
	}
	t := &Teams{teams.GroupVersionKind(), writeTeams, writeDesks, desks.Lister(), lock}
	return teams.Reconcile("teams", t.reconcile,
		controller.Owns(desks.Informer()),
		controller.Options{Concurrency: 4},
	)
}

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

// desk returns the desk that a member should have. The Team owns it: its events queue the Team, and
// it goes when the Team is gone.
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

// end does the last work for a Team, and then lets it go.
func (t *Teams) end(ctx context.Context, team *v1.Team) (done controller.Result, err error) {
	if !slices.Contains(team.Finalizers, Finalizer) {
		return done, nil
	}
	if err := t.lock(ctx, team.Name); err != nil {
		return done, fmt.Errorf("locking the door of team %s: %w", team.Name, err)
	}
	_, _, err = t.teams.RemoveFinalizer(ctx, team, Finalizer)
	return done, err
}
