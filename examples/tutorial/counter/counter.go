// SPDX-License-Identifier: Apache-2.0

// Package counter counts the desks of teams.
package counter

import (
	"context"

	v1 "github.com/informer-gen/informer-gen/examples/tutorial/api/v1"
	"github.com/informer-gen/informer-gen/examples/tutorial/generated/informers"
	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/writer"
)

// New returns a controller for the number of desks in the status of each Team.
func New(factory informers.SharedInformerFactory, client *source.Client) (*controller.Controller, error) {
	teams, desks := factory.Tutorial().V1().Teams(), factory.Core().V1().ConfigMaps()
	writeTeams, err := controller.Writer(client, teams, writer.Options{FieldManager: "counter"})
	if err != nil {
		return nil, err
	}
	return teams.Reconcile("counter", func(ctx context.Context, team *v1.Team) (controller.Result, error) {
		owned := desks.Lister().ConfigMaps(team.Namespace).ListByTeam(team.Name) // an index
		_, _, err := writeTeams.MutateStatus(ctx, team, func(team *v1.Team) error {
			team.Status.Desks = int32(len(owned))
			return nil
		})
		return controller.Result{}, err
	}, controller.Owns(desks.Informer()))
}
