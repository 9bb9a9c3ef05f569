// SPDX-License-Identifier: Apache-2.0

package object

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// ControllerUID appends the UID of obj's controller to uids and returns the result. The controller
// is the owner whose reference has the controller flag; without one, ControllerUID appends nothing.
// It and [OwnerNames] serve as key functions of indexes by owner.
func ControllerUID(obj metav1.Object, uids []types.UID) []types.UID {
	if ref := metav1.GetControllerOfNoCopy(obj); ref != nil {
		uids = append(uids, ref.UID)
	}
	return uids
}

// OwnerNames appends the names of obj's owners of one kind, in any version, to names and returns
// the result. The group of Pods and Nodes is "". References with a malformed APIVersion are
// skipped. Owners are in obj's namespace or cluster-scoped.
func OwnerNames(obj metav1.Object, names []string, owner schema.GroupKind) []string {
	for _, ref := range obj.GetOwnerReferences() {
		if ref.Kind == owner.Kind && hasGroup(ref.APIVersion, owner.Group) {
			names = append(names, ref.Name)
		}
	}
	return names
}

func hasGroup(apiVersion, group string) bool {
	g, version, found := strings.Cut(apiVersion, "/")
	if !found {
		g, version = "", apiVersion
	}
	return g == group && version != "" && !strings.Contains(version, "/")
}
