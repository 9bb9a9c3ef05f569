// SPDX-License-Identifier: Apache-2.0

// Package hooks has the webhooks of Databases.
package hooks

import (
	"context"
	"slices"
	"strings"

	"github.com/robfig/cron/v3"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	v1 "github.com/informer-gen/informer-gen/examples/database/api/v1"
)

// +kubebuilder:webhook:path=/mutate-db-example-com-v1-database,mutating=true,failurePolicy=fail,sideEffects=None,groups=db.example.com,resources=databases,verbs=create;update,versions=v1,name=mdatabase-v1.example.com,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-db-example-com-v1-database,mutating=false,failurePolicy=fail,sideEffects=None,groups=db.example.com,resources=databases,verbs=create;update,versions=v1,name=vdatabase-v1.example.com,admissionReviewVersions=v1

// SetupDatabaseWebhookWithManager registers the webhooks of Databases: the defaulter, the validator
// and the converter.
func SetupDatabaseWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &v1.Database{}).
		WithDefaulter(defaulter{}).
		WithValidator(validator{}).
		Complete()
}

// versions are the versions of PostgreSQL that Databases can have, the newest one last.
var versions = []string{"15", "16", "17"}

// maxName is the length of a Database's name that leaves room for "-backup" in a CronJob's.
const maxName = 45

type defaulter struct{}

// Default sets the version and the storage.
func (defaulter) Default(_ context.Context, db *v1.Database) error {
	if db.Spec.Version == "" {
		db.Spec.Version = versions[len(versions)-1]
	}
	if db.Spec.Storage.IsZero() {
		db.Spec.Storage = resource.MustParse("1Gi")
	}
	return nil
}

type validator struct{}

// ValidateCreate refuses a Database whose objects the API server would refuse.
func (validator) ValidateCreate(_ context.Context, db *v1.Database) (admission.Warnings, error) {
	var errs field.ErrorList
	name := field.NewPath("metadata", "name")
	for _, problem := range validation.IsDNS1035Label(db.Name) { // it is also that of a Service
		errs = append(errs, field.Invalid(name, db.Name, problem))
	}
	if len(db.Name) > maxName {
		errs = append(errs, field.TooLong(name, db.Name, maxName))
	}
	return nil, append(errs, validateSpec(&db.Spec)...).ToAggregate()
}

// ValidateUpdate refuses changes that PostgreSQL or a StatefulSet can't follow. A deleted Database
// passes: otherwise it couldn't lose its finalizer.
func (validator) ValidateUpdate(_ context.Context, old, db *v1.Database) (admission.Warnings, error) {
	if db.DeletionTimestamp != nil {
		return nil, nil
	}
	errs := validateSpec(&db.Spec)
	if slices.Index(versions, db.Spec.Version) < slices.Index(versions, old.Spec.Version) {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "version"), "it can't be lowered from "+old.Spec.Version))
	}
	if db.Spec.Storage.Cmp(old.Spec.Storage) != 0 {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "storage"), "it can't be changed from "+old.Spec.Storage.String()))
	}
	return nil, errs.ToAggregate()
}

// ValidateDelete allows all.
func (validator) ValidateDelete(context.Context, *v1.Database) (admission.Warnings, error) {
	return nil, nil
}

func validateSpec(spec *v1.DatabaseSpec) (errs field.ErrorList) {
	path := field.NewPath("spec")
	if !slices.Contains(versions, spec.Version) {
		errs = append(errs, field.NotSupported(path.Child("version"), spec.Version, versions))
	}
	if spec.Storage.Sign() <= 0 {
		errs = append(errs, field.Invalid(path.Child("storage"), spec.Storage.String(), "must be greater than zero"))
	}
	if spec.Backup != nil {
		schedule := path.Child("backup", "schedule")
		if strings.Contains(spec.Backup.Schedule, "TZ") { // which CronJobs refuse
			errs = append(errs, field.Invalid(schedule, spec.Backup.Schedule, "a time zone can't be set"))
		} else if _, err := cron.ParseStandard(spec.Backup.Schedule); err != nil {
			errs = append(errs, field.Invalid(schedule, spec.Backup.Schedule, err.Error()))
		}
	}
	return errs
}
