// SPDX-License-Identifier: Apache-2.0

// Package teams gives the members of teams their desks.
package teams

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/informer-gen/informer-gen/examples/tutorial/api/v1"
	"github.com/informer-gen/informer-gen/examples/tutorial/generated/informers"
	corelisters "github.com/informer-gen/informer-gen/examples/tutorial/generated/listers/core/v1"
	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/writer"
)

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
