// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"errors"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// SetRing implements WithRing. hub may be nil.
func (s *Settings) SetRing(hub *partition.Hub) error {
	if hub == nil {
		return errors.New("the ring is nil; make one with shard.New")
	}
	s.Ring = hub
	return nil
}

// ByNamespace reports whether the ring divides objects by their namespaces.
func (s *Settings) ByNamespace() bool { return s.Ring != nil && s.Ring.By == partition.ByNamespace }

// checkRing returns an error if the ring does not go with other settings.
func (s *Settings) checkRing() error {
	switch {
	case s.Ring == nil:
		return nil
	case s.NamespaceSelector != "":
		return errBesideRing(withNamespaceSelector, "a ring chooses the namespaces by itself")
	case s.CheckpointDir != "":
		return errBesideRing("WithCheckpoint", "after a restart the process has other buckets than its checkpoint")
	case s.ShardSelector != "":
		return errBesideRing("WithShardSelector", "a ring chooses the shards by itself")
	case s.Ring.By != partition.ByNamespace && len(s.Ring.Roots) > 0 && !hasOwners(s.ObjectType):
		return fmt.Errorf("WithRing: objects of type %v have no metadata.ownerReferences, by which the ring finds their owners; add the field to the projection", s.ObjectType)
	}
	return nil
}

func errBesideRing(other, why string) error {
	return fmt.Errorf("WithRing: %s was given too, but %s; leave it out, or add WithoutRing", other, why)
}

// hasOwners reports whether objects of a type have owner references. A projection may lack them.
func hasOwners(t GoType) bool {
	pointer, ok := t.(reflect.Type)
	if !ok || pointer.Kind() != reflect.Pointer || pointer.Elem().Kind() != reflect.Struct {
		return true
	}
	obj, ok := reflect.New(pointer.Elem()).Interface().(object.Object)
	if !ok {
		return true
	}
	obj.SetOwnerReferences([]metav1.OwnerReference{{Name: "owner"}})
	return len(obj.GetOwnerReferences()) > 0
}
