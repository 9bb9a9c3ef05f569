// SPDX-License-Identifier: Apache-2.0

package fanout

import (
	"time"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Never is the threshold that is never passed.
const Never = -1

// HandlerConfig is how one handler is treated.
type HandlerConfig struct {
	Name      string
	Resync    time.Duration // 0: never
	Threshold int           // of events that wait before they are merged, or Never
	Crash     bool          // let panics end the process
	// Logger gets what is logged about the handler. nil: that of the run.
	Logger *klog.Logger
	// EveryDeletion: merging drops no deletion.
	EveryDeletion bool
}

// Handler is what a subscription delivers to.
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
