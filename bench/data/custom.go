// SPDX-License-Identifier: Apache-2.0

package data

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// crNamespace returns the namespace of the i-th of n custom resources. Namespaces come in order.
func crNamespace(i, n int) string { return fmt.Sprintf("tenant-%03d", i*100/max(n, 1)) }

// crMeta returns the metadata of the i-th of n custom resources, with an entry in managedFields for
// each writer.
func crMeta(r *rand.Rand, i, n int, name string, labels map[string]string, writers ...fieldsWriter) metav1.ObjectMeta {
	created := epoch.Add(time.Duration(r.IntN(90*24*3600)) * time.Second)
	m := metav1.ObjectMeta{
		Name:              name,
		Namespace:         crNamespace(i, n),
		UID:               newUID(r),
		ResourceVersion:   strconv.Itoa(oldVersion(uint64(i))),
		Generation:        int64(1 + r.IntN(5)),
		CreationTimestamp: metav1.NewTime(created),
		Labels:            labels,
	}
	for k, w := range writers {
		m.ManagedFields = append(m.ManagedFields, metav1.ManagedFieldsEntry{
			Manager: w.name, Operation: w.operation, APIVersion: w.version, Subresource: w.subresource,
			Time: new(metav1.NewTime(created.Add(time.Duration(k*(3+r.IntN(60))) * time.Second))), FieldsType: "FieldsV1",
			FieldsV1: metav1.NewFieldsV1(w.fields),
		})
	}
	return m
}

type fieldsWriter struct {
	name, version, subresource, fields string
	operation                          metav1.ManagedFieldsOperationType
}
