// SPDX-License-Identifier: Apache-2.0

// Package databases has the controller of Databases: New makes it, reconcile is called with a
// Database, children.go has the objects that a Database owns.
package databases

import (
	"context"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/events"

	v1 "github.com/informer-gen/informer-gen/examples/database/api/v1"
	"github.com/informer-gen/informer-gen/examples/database/generated/informers"
	dbinformers "github.com/informer-gen/informer-gen/examples/database/generated/informers/db/v1"
	batchlisters "github.com/informer-gen/informer-gen/examples/database/generated/listers/batch/v1"
	corelisters "github.com/informer-gen/informer-gen/examples/database/generated/listers/core/v1"
	policylisters "github.com/informer-gen/informer-gen/examples/database/generated/listers/policy/v1"
	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/lister"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/writer"
)

const (
	// Name is the program's name: the manager of its objects and of their fields.
	Name = "database-operator"
	// Finalizer keeps a deleted Database until its backups are dropped.
	Finalizer = "db.example.com/backups"
)

// Options are the settings of the controller. All are required.
type Options struct {
	// Recorder records Events about Databases.
	Recorder events.EventRecorder
	// Store is the URL of the store of the backups, which lies outside of the cluster.
	Store string
	// Drop deletes the backups of a deleted Database. If it fails, it is called again later.
	Drop func(ctx context.Context, db *v1.Database) error
}

// NewFactory returns the informers. They have all Databases, and only the objects made by this
// program, so they hold no other Secrets.
func NewFactory(client *source.Client, options ...informer.Option) informers.SharedInformerFactory {
	return informers.NewSharedInformerFactory(client, append(options,
		informer.WithoutManagedFields(),
		informer.WithLabelSelector(labels.SelectorFromSet(managed())),
		dbinformers.WithDatabases(factories.KindOptions[*v1.Database]{LabelSelector: labels.Everything()}),
	)...)
}

type databases struct {
	databases    *writer.Writer[*v1.Database]
	secrets      *writer.Writer[*corev1.Secret]
	services     *writer.Writer[*corev1.Service]
	statefulSets *writer.Writer[*appsv1.StatefulSet]
	cronJobs     *writer.Writer[*batchv1.CronJob]
	budgets      *writer.Writer[*policyv1.PodDisruptionBudget]

	madeSecrets  corelisters.SecretLister
	madeCronJobs batchlisters.CronJobLister
	madeBudgets  policylisters.PodDisruptionBudgetLister

	Options
}

// New returns the controller. It reads by a factory of NewFactory, and writes by client.
func New(factory informers.SharedInformerFactory, client *source.Client, options Options) (*controller.Controller, error) {
	dbs := factory.Db().V1().Databases()
	secrets, services := factory.Core().V1().Secrets(), factory.Core().V1().Services()
	statefulSets := factory.Apps().V1().StatefulSets()
	cronJobs := factory.Batch().V1().CronJobs()
	budgets := factory.Policy().V1().PodDisruptionBudgets()

	d := &databases{
		madeSecrets: secrets.Lister(), madeCronJobs: cronJobs.Lister(), madeBudgets: budgets.Lister(), Options: options,
	}
	owner := writer.Options{FieldManager: Name, Force: true}
	var errs [6]error
	d.databases, errs[0] = controller.Writer(client, dbs, owner)
	d.secrets, errs[1] = controller.Writer(client, secrets, owner)
	d.services, errs[2] = controller.Writer(client, services, owner)
	d.statefulSets, errs[3] = controller.Writer(client, statefulSets, owner)
	d.cronJobs, errs[4] = controller.Writer(client, cronJobs, owner)
	d.budgets, errs[5] = controller.Writer(client, budgets, owner)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	return dbs.Reconcile("databases", d.reconcile,
		controller.When(controller.GenerationChanged[*v1.Database]),
		controller.Owns(secrets.Informer()),
		controller.Owns(services.Informer()),
		controller.Owns(statefulSets.Informer()),
		controller.Owns(cronJobs.Informer()),
		controller.Owns(budgets.Informer()),
		controller.Options{Concurrency: 4},
	)
}

// reconcile is called with a copy of a Database when it or one of its objects has changed. It is
// called again, later each time, after an error.
func (d *databases) reconcile(ctx context.Context, db *v1.Database) (done controller.Result, err error) {
	if db.DeletionTimestamp != nil {
		return done, d.end(ctx, db)
	}
	if db, _, err = d.databases.AddFinalizer(ctx, db, Finalizer); err != nil {
		return done, err
	}
	statefulSet, err := d.writeChildren(ctx, db)
	return done, errors.Join(err, d.writeStatus(ctx, db, statefulSet, err))
}

// writeChildren makes the objects of the Database as they should be, and returns its StatefulSet.
func (d *databases) writeChildren(ctx context.Context, db *v1.Database) (*appsv1.StatefulSet, error) {
	if err := d.writeSecret(ctx, db); err != nil {
		return nil, fmt.Errorf("write the Secret: %w", err)
	}
	if _, _, err := d.services.Apply(ctx, newService(db)); err != nil {
		return nil, fmt.Errorf("write the Service: %w", err)
	}
	if err := d.writeCronJob(ctx, db); err != nil {
		return nil, fmt.Errorf("write the CronJob: %w", err)
	}
	if err := d.writeBudget(ctx, db); err != nil {
		return nil, fmt.Errorf("write the PodDisruptionBudget: %w", err)
	}
	statefulSet, _, err := d.statefulSets.Apply(ctx, newStatefulSet(db))
	if err != nil {
		return nil, fmt.Errorf("write the StatefulSet: %w", err)
	}
	return statefulSet, nil
}

// writeSecret creates the Secret if there is none, and never changes one: the password stays. A
// Secret of that name made by another program is an error.
func (d *databases) writeSecret(ctx context.Context, db *v1.Database) error {
	_, err := d.madeSecrets.Secrets(db.Namespace).Get(secretName(db))
	if apierrors.IsNotFound(err) {
		_, _, err = d.secrets.Create(ctx, newSecret(db))
	}
	return err
}

// writeCronJob keeps the CronJob as long as there should be backups.
func (d *databases) writeCronJob(ctx context.Context, db *v1.Database) error {
	if db.Spec.Backup == nil {
		_, err := d.removeCronJob(ctx, db)
		return err
	}
	_, _, err := d.cronJobs.Apply(ctx, newCronJob(db, d.Store))
	return err
}

func (d *databases) removeCronJob(ctx context.Context, db *v1.Database) (found bool, err error) {
	return remove(ctx, db, d.cronJobs, d.madeCronJobs.CronJobs(db.Namespace), backupName(db))
}

// writeBudget keeps the PodDisruptionBudget as long as there are several replicas.
func (d *databases) writeBudget(ctx context.Context, db *v1.Database) error {
	if db.Spec.Replicas == 1 {
		_, err := remove(ctx, db, d.budgets, d.madeBudgets.PodDisruptionBudgets(db.Namespace), db.Name)
		return err
	}
	_, _, err := d.budgets.Apply(ctx, newBudget(db))
	return err
}

// remove deletes an object of the Database, and reports whether there was one in the cache.
func remove[T object.Object](ctx context.Context, db *v1.Database, objects *writer.Writer[T], made lister.NamespaceLister[T], name string) (found bool, err error) {
	obj, err := made.Get(name)
	if apierrors.IsNotFound(err) || err == nil && !metav1.IsControlledBy(obj, db) {
		return false, nil
	}
	if err == nil {
		_, err = objects.Delete(ctx, obj, metav1.DeleteOptions{})
	}
	if apierrors.IsNotFound(err) { // the cache is behind
		err = nil
	}
	return true, err
}

// writeStatus writes the status, and sends an event if the reason for it has changed.
func (d *databases) writeStatus(ctx context.Context, db *v1.Database, statefulSet *appsv1.StatefulSet, failure error) error {
	ready := newReady(db, statefulSet, failure)
	before := apimeta.FindStatusCondition(db.Status.Conditions, v1.Ready)
	db, _, err := d.databases.MutateStatus(ctx, db, func(db *v1.Database) error {
		db.Status.ObservedGeneration = ready.ObservedGeneration
		if statefulSet != nil {
			db.Status.ReadyReplicas = statefulSet.Status.ReadyReplicas
		}
		apimeta.SetStatusCondition(&db.Status.Conditions, ready)
		return nil
	})
	if err != nil {
		return err
	}
	if before == nil || before.Reason != ready.Reason {
		kind := corev1.EventTypeNormal
		if failure != nil {
			kind = corev1.EventTypeWarning
		}
		d.Recorder.Eventf(db, nil, kind, ready.Reason, "Reconcile", "%s", ready.Message)
	}
	return nil
}

func newReady(db *v1.Database, statefulSet *appsv1.StatefulSet, failure error) metav1.Condition {
	ready := metav1.Condition{Type: v1.Ready, Status: metav1.ConditionFalse, ObservedGeneration: db.Generation}
	if failure != nil {
		ready.Reason, ready.Message = v1.ReasonFailed, failure.Error()
		return ready
	}
	now, want := statefulSet.Status, db.Spec.Replicas
	ready.Reason = v1.ReasonProgressing
	ready.Message = fmt.Sprintf("%d of %d replicas are ready", now.ReadyReplicas, want)
	if now.ObservedGeneration >= statefulSet.Generation && now.UpdatedReplicas == want && now.ReadyReplicas == want {
		ready.Status, ready.Reason = metav1.ConditionTrue, v1.ReasonAvailable
	}
	return ready
}

// end lets a deleted Database go: it deletes the CronJob, so that no more backups begin, and then
// drops the backups. The other objects are deleted by the garbage collector.
func (d *databases) end(ctx context.Context, db *v1.Database) error {
	if !slices.Contains(db.Finalizers, Finalizer) {
		return nil
	}
	if found, err := d.removeCronJob(ctx, db); found || err != nil {
		return err // the event of the deletion queues the Database
	}
	if err := d.Drop(ctx, db); err != nil {
		d.Recorder.Eventf(db, nil, corev1.EventTypeWarning, "DropFailed", "Delete", "dropping the backups: %v", err)
		return fmt.Errorf("drop the backups: %w", err)
	}
	d.Recorder.Eventf(db, nil, corev1.EventTypeNormal, "Dropped", "Delete", "the backups are dropped")
	_, _, err := d.databases.RemoveFinalizer(ctx, db, Finalizer)
	return err
}
