// SPDX-License-Identifier: Apache-2.0

package hooks

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/informer-gen/informer-gen/examples/database/api/v1"
)

func newDatabase(change func(db *v1.Database)) *v1.Database {
	db := &v1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders"}, Spec: v1.DatabaseSpec{
		Version: "16", Replicas: 1, Storage: resource.MustParse("1Gi"), Backup: &v1.Backup{Schedule: "0 3 * * *"},
	}}
	change(db)
	return db
}

func TestDefaults(t *testing.T) {
	db := &v1.Database{}
	if err := (defaulter{}).Default(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if db.Spec.Version != "17" || db.Spec.Storage.String() != "1Gi" || db.Spec.Backup != nil {
		t.Errorf("the defaults are %+v", db.Spec)
	}
	given := newDatabase(func(*v1.Database) {})
	if err := (defaulter{}).Default(t.Context(), given); err != nil || given.Spec.Version != "16" {
		t.Errorf("Default returns %v, and the version %s", err, given.Spec.Version)
	}
}

func TestValidation(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(db *v1.Database)
		create string // part of the error; "" for none
		update string
	}{
		"valid":           {change: func(*v1.Database) {}},
		"newer":           {change: func(db *v1.Database) { db.Spec.Version = "17" }},
		"without backups": {change: func(db *v1.Database) { db.Spec.Backup = nil }},
		"older": {
			change: func(db *v1.Database) { db.Spec.Version = "15" },
			update: "spec.version: Forbidden: it can't be lowered from 16",
		},
		"larger": {
			change: func(db *v1.Database) { db.Spec.Storage = resource.MustParse("2Gi") },
			update: "spec.storage: Forbidden: it can't be changed from 1Gi",
		},
		"the same storage in other words": {change: func(db *v1.Database) { db.Spec.Storage = resource.MustParse("1024Mi") }},
		"an unknown version": {
			change: func(db *v1.Database) { db.Spec.Version = "9" },
			create: `spec.version: Unsupported value: "9": supported values: "15", "16", "17"`,
			update: `spec.version: Unsupported value: "9"`,
		},
		"negative storage": {
			change: func(db *v1.Database) { db.Spec.Storage = resource.MustParse("-1") },
			create: `spec.storage: Invalid value: "-1": must be greater than zero`,
			update: `spec.storage: Invalid value: "-1"`,
		},
		"a wrong schedule": {
			change: func(db *v1.Database) { db.Spec.Backup.Schedule = "often" },
			create: `spec.backup.schedule: Invalid value: "often": expected exactly 5 fields, found 1: [often]`,
			update: `spec.backup.schedule: Invalid value: "often"`,
		},
		"a time zone": {
			change: func(db *v1.Database) { db.Spec.Backup.Schedule = "TZ=UTC" },
			create: `spec.backup.schedule: Invalid value: "TZ=UTC": a time zone can't be set`,
			update: `spec.backup.schedule: Invalid value: "TZ=UTC"`,
		},
		"a name that no Service can have": {
			change: func(db *v1.Database) { db.Name = "9lives" },
			create: `metadata.name: Invalid value: "9lives": a DNS-1035 label must`,
		},
		"a long name": {
			change: func(db *v1.Database) { db.Name = strings.Repeat("a", 46) },
			create: "metadata.name: Too long: may not be more than 45",
		},
		"a deleted Database": {
			change: func(db *v1.Database) { db.DeletionTimestamp, db.Spec.Version = &metav1.Time{}, "9" },
			create: "spec.version",
		},
	} {
		t.Run(name, func(t *testing.T) {
			old, db := newDatabase(func(*v1.Database) {}), newDatabase(tc.change)
			check := func(call string, err error, want string) {
				t.Helper()
				if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("%s returns %v, want %q", call, err, want)
				}
			}
			_, err := validator{}.ValidateCreate(t.Context(), db)
			check("ValidateCreate", err, tc.create)
			_, err = validator{}.ValidateUpdate(t.Context(), old, db)
			check("ValidateUpdate", err, tc.update)
			_, err = validator{}.ValidateDelete(t.Context(), db)
			check("ValidateDelete", err, "")
		})
	}
}
