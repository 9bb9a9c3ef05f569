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
	// StatusOf returns the key's state, with the error of its last reconcile. known reports whether
	// the queue has the key.
	StatusOf(key object.Key) (where controller.KeyStatus, known bool)
}

// WithControllers adds controllers:
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

// WithControllerLinks makes the name of each controller a link to prefix and the name. A manager
// serves them with the prefix "controllers/", relative to the page.
func WithControllerLinks(prefix string) Option {
	return func(s *server) { s.links = prefix }
}

// Leadership says which of several processes leads.
type Leadership struct {
	// Leading reports whether this process leads.
	Leading bool `json:"leading"`
	// Holder is the identity of the leading process, "" if it is unknown.
	Holder string `json:"holder,omitempty"`
}

// String returns a sentence for people.
func (l Leadership) String() string {
	switch {
	case l.Leading && l.Holder != "":
		return "This process leads, as " + l.Holder + "."
	case l.Leading:
		return "This process leads."
	case l.Holder != "":
		return "This process does not lead. The leader is " + l.Holder + "."
	}
	return "This process does not lead. The leader is unknown."
}

// WithLeadership adds which process leads. read is called for each request, on the server's
// goroutine; it must not wait.
func WithLeadership(read func() Leadership) Option {
	return func(s *server) { s.leadership = read }
}

// controllerReport describes one controller. Why is "" if it has no problem.
type controllerReport struct {
	ID        string    `json:"-"` // of its section of the page
	Condition condition `json:"condition"`
	Why       string    `json:"why,omitempty"`
	controller.Status
	controller Controller
}

func (s *server) reportControllers(r *report, now time.Time) {
	if s.leadership != nil {
		leadership := s.leadership()
		r.Leadership = &leadership
	}
	for _, read := range s.controllers {
		for _, c := range read() {
			one := controllerReport{ID: fmt.Sprintf("controller-%d", len(r.Controllers)+1), Status: c.Status(), controller: c}
			// The informers of the report have these, without contents of objects.
			one.Missing, one.Handlers = nil, nil
			one.Condition, one.Why = conditionOfController(&one.Status, now)
			r.Controllers = append(r.Controllers, one)
			if one.Condition != stopped { // it may wait to lead
				r.Condition = worse(r.Condition, one.Condition)
			}
			if one.Why != "" {
				r.Problems = append(r.Problems, problem{one.Condition, one.Name, one.Why, "", one.ID})
			}
		}
	}
}

func conditionOfController(s *controller.Status, now time.Time) (c condition, why string) {
	switch {
	case !s.Running && s.RunError != "":
		return failing, "The run has failed: " + s.RunError
	case !s.Running:
		return stopped, ""
	case !s.Synced:
		return starting, ""
	}
	for _, k := range s.Failing {
		if k.Failures <= manyFailures && isQueued(k.KeyStatus) {
			continue
		}
		if why != "" {
			return keysFail, why + ". Other keys fail, too."
		}
		why = fmt.Sprintf("%s fails; %s: %s", k.Key, nextTryInWords(k, now), k.Error)
	}
	if why != "" {
		return keysFail, why
	}
	return healthy, ""
}

// isQueued reports whether the queue has the key.
func isQueued(k workqueue.KeyStatus[object.Key]) bool {
	return k.Running || k.Held || k.Ready || k.Paced || !k.Due.IsZero()
}

func keyInWords(k workqueue.KeyStatus[object.Key], now time.Time) string {
	var text string
	switch wait := inWords(max(0, k.Due.Sub(now))); {
	case k.Running:
		text = "with a worker for " + inWords(now.Sub(k.Since))
		if k.Ready {
			text += ", and added again meanwhile"
		}
	case k.Held:
		text = "held back until the informers have the writes of its last reconcile, for " + wait + " at most"
	case k.Ready:
		text = "ready for " + inWords(now.Sub(k.Since))
	case k.Paced:
		text = "its delay has ended; it waits for its turn among failed keys"
	case !isQueued(k):
		return "not in the queue, until its next event"
	default:
		text = "delayed for " + wait + " more"
	}
	if k.Failures > 0 {
		text += fmt.Sprintf(", after %s", count(k.Failures, "failure"))
	}
	return text
}

// nextTryInWords says when a failing key is reconciled again: "attempt 3 in 10 seconds".
func nextTryInWords(k controller.KeyStatus, now time.Time) string {
	var when string
	switch {
	case !isQueued(k.KeyStatus):
		return "not tried again before its next event"
	case k.Running:
		when = "has been running for " + inWords(now.Sub(k.Since))
	case k.Held:
		when = "waits until the informers have its writes"
	case k.Ready:
		when = "waits for a worker"
	case k.Paced:
		when = "waits for its turn among failed keys"
	default:
		when = "in " + inWords(max(0, k.Due.Sub(now)))
	}
	return fmt.Sprintf("attempt %d %s", k.Failures+1, when)
}
