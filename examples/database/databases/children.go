// SPDX-License-Identifier: Apache-2.0

package databases

import (
	"crypto/rand"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/informer-gen/informer-gen/examples/database/api/v1"
)

// The objects of a Database, with only the fields that this program decides about. All but the
// Secret are applied: fields of other clients and the server's defaults stay. An apply that changes
// nothing is a request, but no write.

const (
	port        = 5432
	passwordKey = "password"
)

// managed are the labels of all objects that this program makes.
func managed() map[string]string {
	return map[string]string{"app.kubernetes.io/managed-by": Name}
}

// selector are the labels of a Database's Pods.
func selector(db *v1.Database) map[string]string {
	return map[string]string{"app.kubernetes.io/name": "postgres", "app.kubernetes.io/instance": db.Name}
}

// meta returns the metadata of an object owned by the Database: its events queue the Database, and
// it is deleted when the Database is gone.
func meta(db *v1.Database, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace:       db.Namespace,
		Name:            name,
		Labels:          managed(),
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(db, v1.GroupVersion.WithKind("Database"))},
	}
}

func secretName(db *v1.Database) string { return db.Name + "-password" }

func backupName(db *v1.Database) string { return db.Name + "-backup" }

// newSecret returns a Secret with a new password.
func newSecret(db *v1.Database) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: meta(db, secretName(db)),
		Data:       map[string][]byte{passwordKey: []byte(rand.Text())},
	}
}

func newService(db *v1.Database) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: meta(db, db.Name),
		Spec: corev1.ServiceSpec{
			ClusterIP: corev1.ClusterIPNone, // a name for each Pod
			Selector:  selector(db),
			Ports:     []corev1.ServicePort{{Name: "postgres", Port: port, Protocol: corev1.ProtocolTCP}},
		},
	}
}

func newStatefulSet(db *v1.Database) *appsv1.StatefulSet {
	pod := corev1.PodSpec{Containers: []corev1.Container{{
		Name:         "postgres",
		Image:        "postgres:" + db.Spec.Version,
		Ports:        []corev1.ContainerPort{{Name: "postgres", ContainerPort: port, Protocol: corev1.ProtocolTCP}},
		Env:          []corev1.EnvVar{passwordVar("POSTGRES_PASSWORD", db)},
		VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/var/lib/postgresql/data"}},
		ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
			Exec: &corev1.ExecAction{Command: []string{"pg_isready", "--username=postgres"}},
		}},
	}}}
	data := corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: db.Spec.Storage},
			},
		},
	}
	return &appsv1.StatefulSet{
		ObjectMeta: meta(db, db.Name),
		Spec: appsv1.StatefulSetSpec{
			Replicas:             &db.Spec.Replicas,
			ServiceName:          db.Name,
			Selector:             &metav1.LabelSelector{MatchLabels: selector(db)},
			Template:             corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: selector(db)}, Spec: pod},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{data},
		},
	}
}

func newCronJob(db *v1.Database, store string) *batchv1.CronJob {
	pod := corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		Containers: []corev1.Container{{
			Name:  "backup",
			Image: "example.com/postgres-backup:" + db.Spec.Version,
			Args:  []string{"--host=" + db.Name, "--username=postgres", "--to=" + store + "/" + db.Namespace + "/" + db.Name},
			Env:   []corev1.EnvVar{passwordVar("PGPASSWORD", db)},
		}},
	}
	return &batchv1.CronJob{
		ObjectMeta: meta(db, backupName(db)),
		Spec: batchv1.CronJobSpec{
			Schedule:          db.Spec.Backup.Schedule,
			ConcurrencyPolicy: batchv1.ForbidConcurrent,
			JobTemplate: batchv1.JobTemplateSpec{
				Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: pod}},
			},
		},
	}
}

// newBudget returns a PodDisruptionBudget: a drain of nodes takes one replica at a time.
func newBudget(db *v1.Database) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: meta(db, db.Name),
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: new(intstr.FromInt32(1)),
			Selector:       &metav1.LabelSelector{MatchLabels: selector(db)},
		},
	}
}

func passwordVar(name string, db *v1.Database) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: secretName(db)}, Key: passwordKey,
	}}}
}
