// SPDX-License-Identifier: Apache-2.0

package protodec

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
)

// podsOf returns n encoded Pods, in workloads of 40 Pods each. With distinct, no string is in two
// of them.
func podsOf(t testing.TB, n int, distinct bool) (pods [][]byte) {
	r := rand.New(rand.NewPCG(11, 12))
	for i := range n {
		pod := podOf(r, i/40)
		if distinct {
			d := &distinctStrings{next: i * 1000}
			d.change(reflect.ValueOf(pod).Elem())
		}
		data, err := pod.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		pods = append(pods, data)
	}
	return pods
}

// podOf returns a Pod of a workload.
func podOf(r *rand.Rand, workload int) *corev1.Pod {
	app := fmt.Sprint("app-", workload)
	token := fmt.Sprintf("kube-api-access-%05x", r.IntN(1<<20))
	created := time.Unix(1767323045+r.Int64N(1e6), 0)
	ip, host := fmt.Sprintf("10.64.%d.%d", r.IntN(256), r.IntN(256)), fmt.Sprintf("10.0.0.%d", r.IntN(50))
	at := func(seconds int) metav1.Time {
		return metav1.NewTime(created.Add(time.Duration(seconds) * time.Second))
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("%s-%x", app, r.Uint32()), GenerateName: app + "-", Namespace: "shop", UID: types.UID(fmt.Sprintf("6d7f2c0e-7d5e-4a8c-%016x", r.Uint64())),
			ResourceVersion: fmt.Sprint(r.Uint32()), CreationTimestamp: at(0), Labels: map[string]string{"app": app, "pod-template-hash": fmt.Sprintf("%x", workload*7919)},
			Annotations:     map[string]string{"example.test/checksum": fmt.Sprintf("%064x", workload)},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: app, UID: types.UID(app), Controller: new(true)}},
			ManagedFields: []metav1.ManagedFieldsEntry{
				{Manager: "kube-controller-manager", Operation: "Update", APIVersion: "v1", Time: new(at(0)), FieldsType: "FieldsV1", FieldsV1: podtest.FieldsV1(`{"f:metadata":{"f:labels":{"f:app":{}}},"f:spec":{"f:containers":{}}}`)},
				{Manager: "kubelet", Operation: "Update", APIVersion: "v1", Time: new(at(9)), FieldsType: "FieldsV1", FieldsV1: podtest.FieldsV1(`{"f:status":{"f:podIPs":{"k:{\"ip\":\"` + ip + `\"}":{}}}}`), Subresource: "status"},
			},
		},
		Spec: corev1.PodSpec{
			Volumes: []corev1.Volume{{Name: token, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
				Sources: []corev1.VolumeProjection{
					{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{ExpirationSeconds: new(int64(3607)), Path: "token"}},
					{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"}, Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}}}},
				}, DefaultMode: new(int32(420)),
			}}}},
			RestartPolicy: "Always", TerminationGracePeriodSeconds: new(int64(30)), DNSPolicy: "ClusterFirst", ServiceAccountName: app, DeprecatedServiceAccount: app,
			NodeName: "node-" + host, SecurityContext: &corev1.PodSecurityContext{}, SchedulerName: "default-scheduler", Priority: new(int32(0)), EnableServiceLinks: new(true),
			Tolerations: []corev1.Toleration{{Key: "node.kubernetes.io/not-ready", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: new(int64(300))}},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, HostIP: host, HostIPs: []corev1.HostIP{{IP: host}}, PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}}, StartTime: new(at(1)), QOSClass: "Burstable",
		},
	}
	for i, condition := range []corev1.PodConditionType{"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: condition, Status: "True", LastTransitionTime: at(i)})
	}
	for i, name := range []string{"app", "proxy"} {
		quantities := corev1.ResourceList{"cpu": *resource.NewMilliQuantity(int64(100*(i+1+workload%5)), resource.DecimalSI), "memory": resource.MustParse("128Mi")}
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{
			Name: name, Image: "registry.test/" + app + "/" + name + ":1.2.3", Args: []string{"--port", "8080"}, Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: "TCP"}},
			Env:                    []corev1.EnvVar{{Name: "MODE", Value: "production"}, {Name: "IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "status.podIP"}}}},
			Resources:              corev1.ResourceRequirements{Limits: quantities, Requests: quantities},
			VolumeMounts:           []corev1.VolumeMount{{Name: token, ReadOnly: true, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"}},
			TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: "File", ImagePullPolicy: "IfNotPresent",
		})
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: name, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at(3 + i)}}, Ready: true, Started: new(true),
			Image: "registry.test/" + app + "/" + name + ":1.2.3", ImageID: fmt.Sprintf("registry.test/%s@sha256:%064x", name, workload), ContainerID: fmt.Sprintf("containerd://%016x%016x%016x%016x", r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()),
		})
	}
	return pod
}

// distinctStrings replaces all strings and times by unique ones.
type distinctStrings struct{ next int }

func (u *distinctStrings) change(v reflect.Value) {
	u.next++
	switch p := v.Addr().Interface().(type) {
	case *metav1.Time:
		p.Time = time.Unix(int64(u.next), 0)
		return
	case *resource.Quantity:
		*p = *resource.NewQuantity(int64(u.next), resource.DecimalSI)
		return
	case *metav1.FieldsV1:
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			u.change(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			u.change(v.Index(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			u.change(v.Elem())
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			u.change(value)
			v.SetMapIndex(key, reflect.Value{})
			other := reflect.New(v.Type().Key()).Elem()
			other.SetString(key.String())
			u.change(other)
			v.SetMapIndex(other, value)
		}
	case reflect.String:
		if s := v.String(); s != "" {
			v.SetString(fmt.Sprintf("%s%0*d", s[:max(0, len(s)-7)], min(len(s), 7), u.next))
		}
	}
}
