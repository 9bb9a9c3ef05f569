// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	v1 "github.com/informer-gen/informer-gen/examples/database/api/v1"
)

// ConvertTo converts the Database to v1.
func (d *Database) ConvertTo(hub conversion.Hub) error {
	to := hub.(*v1.Database)
	to.ObjectMeta, to.Status = d.ObjectMeta, d.Status
	to.Spec = v1.DatabaseSpec{Version: d.Spec.Version, Replicas: d.Spec.Replicas, Storage: d.Spec.Storage}
	if d.Spec.BackupSchedule != "" {
		to.Spec.Backup = &v1.Backup{Schedule: d.Spec.BackupSchedule}
	}
	return nil
}

// ConvertFrom converts the Database from v1.
func (d *Database) ConvertFrom(hub conversion.Hub) error {
	from := hub.(*v1.Database)
	d.ObjectMeta, d.Status = from.ObjectMeta, from.Status
	d.Spec = DatabaseSpec{Version: from.Spec.Version, Replicas: from.Spec.Replicas, Storage: from.Spec.Storage}
	if from.Spec.Backup != nil {
		d.Spec.BackupSchedule = from.Spec.Backup.Schedule
	}
	return nil
}
