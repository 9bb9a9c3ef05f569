// SPDX-License-Identifier: Apache-2.0

package endpoints

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	projections "github.com/informer-gen/informer-gen/examples/endpoints-controller/generated/projections/core/v1"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// TriggerTimes remembers the times of observed changes of each Service, to find the new ones. The
// zero value is ready to use. It is safe for concurrent use with different Services.
type TriggerTimes struct {
	mu   sync.Mutex // mu guards seen, but not the triggers
	seen map[object.Key]*triggers
}

// triggers are the observed times of one Service. The caller of Observe owns them.
type triggers struct {
	service time.Time
	pods    map[string]time.Time // by name
}

// Observe returns the trigger time for a Service's Endpoints: the earliest change since the last
// call for this Service. A Service changes at its creation; a Pod, when it last became ready or not
// ready. The first call returns the Service's creation. The zero time means that nothing has
// changed.
func (t *TriggerTimes) Observe(service *corev1.Service, pods []*projections.PodEndpoint) (trigger time.Time) {
	seen, isNew := t.of(object.KeyOf(service))
	earliest := func(changed time.Time) {
		if trigger.IsZero() || changed.Before(trigger) {
			trigger = changed
		}
	}
	times := make(map[string]time.Time, len(pods))
	for _, pod := range pods {
		condition := readyCondition(pod)
		if condition == nil || condition.LastTransitionTime.IsZero() {
			continue
		}
		changed := condition.LastTransitionTime.Time
		times[pod.Name] = changed
		if changed.After(seen.pods[pod.Name]) {
			earliest(changed)
		}
	}
	created := service.CreationTimestamp.Time
	if created.After(seen.service) {
		earliest(created)
	}
	seen.service, seen.pods = created, times
	if isNew {
		return created
	}
	return trigger
}

func (t *TriggerTimes) of(key object.Key) (seen *triggers, isNew bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if seen := t.seen[key]; seen != nil {
		return seen, false
	}
	if t.seen == nil {
		t.seen = map[object.Key]*triggers{}
	}
	seen = &triggers{}
	t.seen[key] = seen
	return seen, true
}

// Forget drops a Service that is gone.
func (t *TriggerTimes) Forget(service object.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.seen, service)
}
