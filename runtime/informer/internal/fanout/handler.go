// SPDX-License-Identifier: Apache-2.0

package fanout

import (
	"time"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Never is a threshold that no backlog exceeds.
const Never = -1

// HandlerConfig configures one handler.
type HandlerConfig struct {
	Name      string
	Resync    time.Duration // 0: never
	Threshold int           // events that may wait before they are merged, or Never
	Crash     bool          // let panics end the process
	// Logger logs the handler's panics and hangs. nil: the run's.
	Logger *klog.Logger
	// EveryDeletion keeps every deletion when changes are merged.
	EveryDeletion bool
}

// Handler gets the events of a subscription.
type Handler interface {
	OnAdd(obj object.Object, initial bool)
	OnUpdate(old, obj object.Object)
	OnDelete(Deleted)
}

// Deleted is the deletion of an object.
type Deleted struct {
	Key               object.Key
	Object            object.Object
	FinalStateUnknown bool
}
