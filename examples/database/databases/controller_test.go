// SPDX-License-Identifier: Apache-2.0

package databases_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/informer-gen/informer-gen/examples/database/api/v1"
	"github.com/informer-gen/informer-gen/examples/database/databases"
	appslisters "github.com/informer-gen/informer-gen/examples/database/generated/listers/apps/v1"
	corelisters "github.com/informer-gen/informer-gen/examples/database/generated/listers/core/v1"
	dblisters "github.com/informer-gen/informer-gen/examples/database/generated/listers/db/v1"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/testkit/controllertest"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

func TestDatabaseHasFiveObjects(t *testing.T) {
	run(t, nil, func(r *rig) {
		db := r.database()
		for _, child := range []object.Object{
			get(r, r.secrets, "orders-password"), get(r, r.services, "orders"), get(r, r.statefulSets, "orders"),
			get(r, r.cronJobs, "orders-backup"), get(r, r.budgets, "orders"),
		} {
			if !metav1.IsControlledBy(child, db) || child.GetLabels()["app.kubernetes.io/managed-by"] != databases.Name {
				r.Errorf("%T has owners %v and labels %v", child, child.GetOwnerReferences(), child.GetLabels())
			}
		}
		if got := get(r, r.secrets, "orders-password").Data["password"]; len(got) < 20 {
			r.Errorf("the password has %d characters, want at least 20", len(got))
		}
		set := get(r, r.statefulSets, "orders")
		if image := set.Spec.Template.Spec.Containers[0].Image; *set.Spec.Replicas != 3 || image != "postgres:16" {
			r.Errorf("the StatefulSet has %d replicas of %s", *set.Spec.Replicas, image)
		}
		job := get(r, r.cronJobs, "orders-backup").Spec
		args := job.JobTemplate.Spec.Template.Spec.Containers[0].Args
		if job.Schedule != "0 3 * * *" || !slices.Contains(args, "--to=http://backups/shop/orders") {
			r.Errorf("the CronJob runs at %q, with %q", job.Schedule, args)
		}

		r.update(func(spec *v1.DatabaseSpec) { spec.Version, spec.Replicas = "17", 5 })
		set = get(r, r.statefulSets, "orders")
		if image := set.Spec.Template.Spec.Containers[0].Image; *set.Spec.Replicas != 5 || image != "postgres:17" {
			r.Errorf("after an update the StatefulSet has %d replicas of %s", *set.Spec.Replicas, image)
		}
	})
}

// TestNothingIsWrittenInVain: reconciles that find everything as it should be change no object.
func TestNothingIsWrittenInVain(t *testing.T) {
	run(t, nil, func(r *rig) {
		before := r.Server.ResourceVersion()
		r.Stop()
		r.Start(r.controller) // reconciles everything once
		r.Settle()
		if now := r.Server.ResourceVersion(); now != before {
			r.Errorf("a new start has moved the server from version %s to %s", before, now)
		}
	})
}

func TestObjectsAreRepaired(t *testing.T) {
	run(t, nil, func(r *rig) {
		r.secrets.Delete("shop", "orders-password")
		r.services.Delete("shop", "orders")
		r.statefulSets.Delete("shop", "orders")
		r.cronJobs.Delete("shop", "orders-backup")
		r.budgets.Delete("shop", "orders")
		r.Settle()
		get(r, r.secrets, "orders-password")
		get(r, r.services, "orders")
		get(r, r.statefulSets, "orders")
		get(r, r.cronJobs, "orders-backup")
		get(r, r.budgets, "orders")

		set := get(r, r.statefulSets, "orders")
		set.Spec.Replicas = new(int32(1))
		set.Spec.MinReadySeconds = 7 // nobody else decides about it
		set.Labels = map[string]string{"team": "blue"}
		r.statefulSets.Update(set)
		r.Settle()
		set = get(r, r.statefulSets, "orders")
		if *set.Spec.Replicas != 3 || set.Spec.MinReadySeconds != 7 {
			r.Errorf("the spec is %+v, want 3 replicas again and the rest unchanged", set.Spec)
		}
		if want := "map[app.kubernetes.io/managed-by:database-operator team:blue]"; fmt.Sprint(set.Labels) != want {
			r.Errorf("the labels are %v, want %s", set.Labels, want)
		}
	})
}

func TestUnwantedObjectsAreDeleted(t *testing.T) {
	run(t, nil, func(r *rig) {
		r.update(func(spec *v1.DatabaseSpec) { spec.Replicas, spec.Backup = 1, nil })
		if left := len(r.cronJobs.All()) + len(r.budgets.All()); left > 0 {
			r.Errorf("%d CronJobs and PodDisruptionBudgets are left", left)
		}

		// Another program's CronJob stays.
		r.cronJobs.Create(&batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "orders-backup", Labels: map[string]string{"app.kubernetes.io/managed-by": databases.Name},
		}})
		r.update(func(spec *v1.DatabaseSpec) { spec.Version = "17" })
		get(r, r.cronJobs, "orders-backup")
	})
}

func TestPasswordStays(t *testing.T) {
	run(t, nil, func(r *rig) {
		first := get(r, r.secrets, "orders-password")
		r.update(func(spec *v1.DatabaseSpec) { spec.Version = "17" })
		r.Stop()
		r.Start(r.controller)
		r.Settle()
		if now := get(r, r.secrets, "orders-password"); now.ResourceVersion != first.ResourceVersion {
			r.Error("the Secret was written again")
		}

		first.Data["password"] = []byte("mine")
		r.secrets.Update(first)
		r.Settle()
		if now := get(r, r.secrets, "orders-password"); string(now.Data["password"]) != "mine" {
			r.Errorf("a user's password was overwritten")
		}
	})
}

// TestSecretOfAnotherProgram: it is not touched, and the status says so.
func TestSecretOfAnotherProgram(t *testing.T) {
	theirs := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders-password"}}
	deletedLater := func(r *rig) {
		theirs = r.secrets.Create(theirs)
		byUser := func(*sourcetest.Answer) { r.secrets.Delete("shop", "orders-password") }
		secrets := corelisters.SecretResource()
		r.Server.Inject(sourcetest.Fault{On: sourcetest.Write, Resource: secrets, Skip: 3, Do: byUser})
	}
	run(t, deletedLater, func(r *rig) {
		r.wantEvents(
			`Warning Failed write the Secret: secrets "orders-password" already exists`,
			`Normal Progressing 0 of 3 replicas are ready`,
		)
		if now := get(r, r.secrets, "orders-password"); now.UID == theirs.UID {
			r.Error("the Secret is still the other one")
		}
	})
}

func TestStatus(t *testing.T) {
	run(t, nil, func(r *rig) {
		want := func(status metav1.ConditionStatus, reason, message string) {
			t.Helper()
			db, ready := r.database(), r.ready()
			if ready.Status != status || ready.Reason != reason || ready.Message != message {
				t.Errorf("Ready is %+v; want %s, %s, %q", ready, status, reason, message)
			}
			if ready.ObservedGeneration != db.Generation || db.Status.ObservedGeneration != db.Generation {
				t.Errorf("the observed generations are %d and %d, want %d", ready.ObservedGeneration, db.Status.ObservedGeneration, db.Generation)
			}
		}
		want(metav1.ConditionFalse, v1.ReasonProgressing, "0 of 3 replicas are ready")
		r.setReady(2)
		want(metav1.ConditionFalse, v1.ReasonProgressing, "2 of 3 replicas are ready")
		r.setReady(3)
		want(metav1.ConditionTrue, v1.ReasonAvailable, "3 of 3 replicas are ready")
		if ready := r.database().Status.ReadyReplicas; ready != 3 {
			t.Errorf("%d ready replicas, want 3", ready)
		}

		// The StatefulSet's status is about the old spec until its controller has seen the new one.
		r.update(func(spec *v1.DatabaseSpec) { spec.Version = "17" })
		want(metav1.ConditionFalse, v1.ReasonProgressing, "3 of 3 replicas are ready")
		r.setReady(3)
		want(metav1.ConditionTrue, v1.ReasonAvailable, "3 of 3 replicas are ready")
		r.wantEvents(
			"Normal Progressing 0 of 3 replicas are ready",
			"Normal Available 3 of 3 replicas are ready",
			"Normal Progressing 3 of 3 replicas are ready",
			"Normal Available 3 of 3 replicas are ready",
		)
	})
}

// TestDeletion: the backups are dropped when no more can begin, and the Database stays until then.
func TestDeletion(t *testing.T) {
	run(t, nil, func(r *rig) {
		r.wantEvents("Normal Progressing 0 of 3 replicas are ready")
		if got := r.database().Finalizers; len(got) != 1 || got[0] != databases.Finalizer {
			t.Errorf("the finalizers are %v", got)
		}
		attempts := 0
		r.drop = func(_ context.Context, db *v1.Database) error {
			if left := len(r.cronJobs.All()); left > 0 {
				t.Errorf("%d CronJobs are left while the backups are dropped", left)
			}
			if _, ok := r.databases.Get("shop", db.Name); !ok {
				t.Error("the Database has gone before its backups")
			}
			if attempts++; attempts < 3 {
				return errors.New("the store is closed")
			}
			return nil
		}
		r.deleteDatabase()
		if left := len(r.databases.All()); left > 0 || attempts != 3 {
			t.Errorf("%d Databases are left after %d attempts, want 0 after 3", left, attempts)
		}
		r.wantEvents(
			"Warning DropFailed dropping the backups: the store is closed",
			"Warning DropFailed dropping the backups: the store is closed",
			"Normal Dropped the backups are dropped",
		)
		// The garbage collector deletes the rest, and there is none here.
		if left := len(r.statefulSets.All()); left != 1 {
			t.Errorf("%d StatefulSets are left, want 1", left)
		}
	})
}

// TestFinalizerOfAnother: a deleted Database that others still hold gets no new objects.
func TestFinalizerOfAnother(t *testing.T) {
	run(t, nil, func(r *rig) {
		db := r.database()
		db.Finalizers = append(db.Finalizers, "example.com/other")
		r.databases.Update(db)
		dropped := 0
		r.drop = func(context.Context, *v1.Database) error { dropped++; return nil }
		r.deleteDatabase()
		r.services.Delete("shop", "orders")
		r.Settle()
		if left := len(r.services.All()); left > 0 || dropped != 1 {
			t.Errorf("%d Services, and the backups were dropped %d times; want none, and once", left, dropped)
		}
	})
}

func TestFaultyServer(t *testing.T) {
	isStatus := func(req sourcetest.Request) bool { return req.Subresource == "status" }
	faults := func(r *rig) {
		sets, databases := appslisters.StatefulSetResource(), dblisters.DatabaseResource()
		r.Server.Inject(sourcetest.Fault{On: sourcetest.Write, Resource: sets, Do: sourcetest.Refuse(http.StatusInternalServerError)})
		r.Server.Inject(sourcetest.Fault{On: sourcetest.Write, Resource: databases, Match: isStatus, Do: func(*sourcetest.Answer) {
			db := r.database() // a user writes first
			db.Spec.Version = "17"
			r.databases.Update(db)
		}})
	}
	run(t, faults, func(r *rig) {
		if image := get(r, r.statefulSets, "orders").Spec.Template.Spec.Containers[0].Image; image != "postgres:17" {
			t.Errorf("the image is %s, want postgres:17", image)
		}
		db, ready := r.database(), r.ready()
		if ready.Reason != v1.ReasonProgressing || ready.ObservedGeneration != db.Generation {
			t.Errorf("Ready is %+v, want Progressing in generation %d", ready, db.Generation)
		}
		if failed := r.controller.Status().Totals.Failed; failed != 1 {
			t.Errorf("%d reconciles have failed, want 1", failed)
		}
		r.wantEvents(
			`Warning Failed write the StatefulSet: an error on the server ("Internal Server Error") has prevented the request from succeeding`,
			"Normal Progressing 0 of 3 replicas are ready",
		)
	})
}

func TestNewNeedsClient(t *testing.T) {
	controllertest.Run(t, func(t *testing.T, env *controllertest.Env) {
		_, err := databases.New(databases.NewFactory(env.Client), nil, databases.Options{})
		if err == nil || !strings.Contains(err.Error(), "the client is nil") {
			t.Errorf("New without a client returns %v", err)
		}
	})
}
