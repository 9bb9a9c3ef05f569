// SPDX-License-Identifier: Apache-2.0

package databases_test

import (
	"context"
	"strings"
	"testing"

	"go.uber.org/goleak"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"

	v1 "github.com/informer-gen/informer-gen/examples/database/api/v1"
	"github.com/informer-gen/informer-gen/examples/database/databases"
	appslisters "github.com/informer-gen/informer-gen/examples/database/generated/listers/apps/v1"
	batchlisters "github.com/informer-gen/informer-gen/examples/database/generated/listers/batch/v1"
	corelisters "github.com/informer-gen/informer-gen/examples/database/generated/listers/core/v1"
	dblisters "github.com/informer-gen/informer-gen/examples/database/generated/listers/db/v1"
	policylisters "github.com/informer-gen/informer-gen/examples/database/generated/listers/policy/v1"
	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/writer"
	"github.com/informer-gen/informer-gen/testkit/controllertest"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a running controller and its API server, which has a Database "orders" with three replicas
// and backups.
type rig struct {
	*controllertest.Env
	*testing.T
	controller *controller.Controller

	databases    *sourcetest.Collection[*v1.Database]
	secrets      *sourcetest.Collection[*corev1.Secret]
	services     *sourcetest.Collection[*corev1.Service]
	statefulSets *sourcetest.Collection[*appsv1.StatefulSet]
	cronJobs     *sourcetest.Collection[*batchv1.CronJob]
	budgets      *sourcetest.Collection[*policyv1.PodDisruptionBudget]

	recorder *events.FakeRecorder
	drop     func(ctx context.Context, db *v1.Database) error // may be changed by the test
}

// run tests with a rig. prepare, unless nil, is called before the controller starts.
func run(t *testing.T, prepare, test func(r *rig)) {
	t.Helper()
	controllertest.Run(t, func(t *testing.T, env *controllertest.Env) {
		r := &rig{
			Env: env, T: t,
			databases:    sourcetest.Serve[*v1.Database](env.Server, dblisters.DatabaseResource(), ""),
			secrets:      sourcetest.Serve[*corev1.Secret](env.Server, corelisters.SecretResource(), ""),
			services:     sourcetest.Serve[*corev1.Service](env.Server, corelisters.ServiceResource(), ""),
			statefulSets: sourcetest.Serve[*appsv1.StatefulSet](env.Server, appslisters.StatefulSetResource(), ""),
			cronJobs:     sourcetest.Serve[*batchv1.CronJob](env.Server, batchlisters.CronJobResource(), ""),
			budgets:      sourcetest.Serve[*policyv1.PodDisruptionBudget](env.Server, policylisters.PodDisruptionBudgetResource(), ""),
			recorder:     events.NewFakeRecorder(100),
			drop:         func(context.Context, *v1.Database) error { return nil },
		}
		r.databases.Create(&v1.Database{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders"},
			Spec: v1.DatabaseSpec{
				Version: "16", Replicas: 3, Storage: resource.MustParse("1Gi"), Backup: &v1.Backup{Schedule: "0 3 * * *"},
			},
		})
		c, err := databases.New(databases.NewFactory(env.Client), env.Client, databases.Options{
			Recorder: r.recorder, Store: "http://backups",
			Drop: func(ctx context.Context, db *v1.Database) error { return r.drop(ctx, db) },
		})
		if err != nil {
			t.Fatal(err)
		}
		if prepare != nil {
			prepare(r)
		}
		r.controller = c
		env.Start(c)
		env.Settle()
		test(r)
	})
}

// get returns an object of the namespace shop.
func get[T object.Object](r *rig, all *sourcetest.Collection[T], name string) T {
	r.Helper()
	obj, ok := all.Get("shop", name)
	if !ok {
		r.Fatalf("there is no %T %s", obj, name)
	}
	return obj
}

func (r *rig) database() *v1.Database { return get(r, r.databases, "orders") }

func (r *rig) ready() metav1.Condition {
	r.Helper()
	ready := apimeta.FindStatusCondition(r.database().Status.Conditions, v1.Ready)
	if ready == nil {
		r.Fatal("the Database has no condition Ready")
	}
	return *ready
}

// update changes the spec as a user does, and settles.
func (r *rig) update(change func(spec *v1.DatabaseSpec)) {
	r.Helper()
	db := r.database()
	change(&db.Spec)
	r.databases.Update(db)
	r.Settle()
}

// setReady plays the StatefulSet's controller, and settles.
func (r *rig) setReady(replicas int32) {
	r.Helper()
	set := get(r, r.statefulSets, "orders")
	set.Status = appsv1.StatefulSetStatus{
		ObservedGeneration: set.Generation, UpdatedReplicas: *set.Spec.Replicas, ReadyReplicas: replicas,
	}
	r.statefulSets.Update(set)
	r.Settle()
}

// deleteDatabase deletes the Database as a client does, and settles.
func (r *rig) deleteDatabase() {
	r.Helper()
	client, err := writer.New[*v1.Database](r.Client, dblisters.DatabaseResource(), writer.Options{})
	if err != nil {
		r.Fatal(err)
	}
	if _, err := client.Delete(r.Context(), r.database(), metav1.DeleteOptions{}); err != nil {
		r.Fatal(err)
	}
	r.Settle()
}

// wantEvents compares the events since the last call.
func (r *rig) wantEvents(want ...string) {
	r.Helper()
	var got []string
	for len(r.recorder.Events) > 0 {
		got = append(got, <-r.recorder.Events)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		r.Errorf("events\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
