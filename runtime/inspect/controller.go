// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"fmt"
	"time"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

// Controller is the part of a [controller.Controller] that the page uses.
type Controller interface {
	Status() controller.Status
	// StatusOf returns the key's state in the queue. known reports whether the queue has it.
	StatusOf(key object.Key) (where workqueue.KeyStatus[object.Key], known bool)
}

// WithControllers adds the work queues of controllers:
//
//	inspect.Handler(factory, inspect.WithControllers(func() []inspect.Controller {
//		return []inspect.Controller{widgets, pods}
//	}))
//
// read is called for each request, on the server's goroutine; it must not wait. Several
// WithControllers add up.
func WithControllers(read func() []Controller) Option {
	return func(s *server) {
		if read != nil {
			s.controllers = append(s.controllers, read)
		}
	}
}

type queue struct {
	Name string `json:"name"`
	workqueue.Status[object.Key]
	controller Controller
}

func queueOf(c Controller) queue {
	status := c.Status()
	return queue{status.Name, status.Queue, c}
}

func (q queue) Waiting() int { return q.Delayed + q.Paced + q.Held }

func (q queue) where(key object.Key, now time.Time) string {
	s, ok := q.controller.StatusOf(key)
	if !ok {
		return ""
	}
	return keyInWords(s, now)
}

func (q queue) Ready() int { return q.High + q.Normal + q.Low }

// Levels returns the numbers of ready keys by priority: "by priority: 3, 0, 12".
func (q queue) Levels() string {
	return fmt.Sprintf("by priority: %s, %s, %s", thousands(q.High), thousands(q.Normal), thousands(q.Low))
}

func keyInWords(s workqueue.KeyStatus[object.Key], now time.Time) string {
	var text string
	switch wait := inWords(max(0, s.Due.Sub(now))); {
	case s.Running:
		text = "with a worker for " + inWords(now.Sub(s.Since))
		if s.Ready {
			text += ", and added again meanwhile"
		}
	case s.Held:
		text = "held back until the informers have the writes of its last reconcile, for " + wait + " at most"
	case s.Ready:
		text = "ready for " + inWords(now.Sub(s.Since))
	case s.Paced:
		text = "its delay has ended; it waits for its turn among failed keys"
	default:
		text = "delayed for " + wait + " more"
	}
	if s.Failures > 0 {
		text += fmt.Sprintf(", after %s", count(s.Failures, "failure"))
	}
	return text
}
