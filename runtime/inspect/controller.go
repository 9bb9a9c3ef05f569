// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"fmt"
	"time"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

// reporter is a controller that reports its Status, as a [controller.Controller] does.
type reporter interface{ Status() controller.Status }

// QueuesOf returns a function for [WithQueues] that reads the queues of controllers:
//
//	inspect.Handler(factory, inspect.WithQueues(inspect.QueuesOf(widgets, pods)))
//
// ?key explains a key wherever the queue of a [controller.Controller] has it. Of other reporters it
// finds what is running, and the oldest that is ready.
func QueuesOf(controllers ...reporter) func() []Queue {
	return func() []Queue {
		queues := make([]Queue, len(controllers))
		for n, c := range controllers {
			queues[n] = queueOf(c)
		}
		return queues
	}
}

func queueOf(c reporter) Queue {
	status := c.Status()
	s := &status.Queue
	q := Queue{
		Name: status.Name, Ready: []int{s.High, s.Normal, s.Low}, Delayed: s.Delayed + s.Paced + s.Held, Failing: s.Failing,
	}
	if s.Oldest != nil {
		oldest := queueKeyOf(*s.Oldest)
		q.Oldest = &oldest
	}
	for _, running := range s.Running {
		q.Running = append(q.Running, queueKeyOf(running))
	}
	if keyed, ok := c.(interface {
		StatusOf(object.Key) (workqueue.KeyStatus[object.Key], bool)
	}); ok {
		q.Find = func(text string) string {
			key, err := object.ParseKey(text)
			if err != nil {
				return ""
			}
			if s, ok := keyed.StatusOf(key); ok {
				return keyInWords(s, time.Now())
			}
			return ""
		}
	}
	return q
}

func queueKeyOf(k workqueue.KeyStatus[string]) QueueKey {
	return QueueKey{Key: k.Key, Since: k.Since, Attempt: k.Failures + 1}
}

// keyInWords returns where a queue has a key.
func keyInWords(s workqueue.KeyStatus[object.Key], now time.Time) string {
	var text string
	switch wait := inWords(max(0, s.Due.Sub(now))); {
	case s.Running:
		text = "a worker has had it for " + inWords(now.Sub(s.Since))
		if s.Ready {
			text += ", and it was added again since"
		}
	case s.Held:
		text = "held back until the informers have what its last reconcile has written, for " + wait + " at most"
	case s.Ready:
		text = "ready for " + inWords(now.Sub(s.Since))
	case s.Paced:
		text = "its delay is over; it waits for its turn among the keys that have failed"
	default:
		text = "delayed for " + wait + " more"
	}
	if s.Failures > 0 {
		text += fmt.Sprintf(", after %s", count(s.Failures, "failure"))
	}
	return text
}
