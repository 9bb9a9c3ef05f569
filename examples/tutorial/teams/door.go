// SPDX-License-Identifier: Apache-2.0

package teams

import (
	"context"
	"fmt"
	"slices"

	v1 "github.com/informer-gen/informer-gen/examples/tutorial/api/v1"
	"github.com/informer-gen/informer-gen/runtime/controller"
)

// Finalizer keeps a deleted Team until its door is locked.
const Finalizer = "tutorial.example.com/door"

// end locks the door of a deleted Team, and then lets the Team go.
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
