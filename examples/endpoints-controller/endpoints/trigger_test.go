// SPDX-License-Identifier: Apache-2.0

package endpoints

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	projections "github.com/informer-gen/informer-gen/examples/endpoints-controller/generated/projections/core/v1"
	"github.com/informer-gen/informer-gen/runtime/object"
)

func TestTriggerTimes(t *testing.T) {
	at := func(minute int) time.Time { return midnight.Add(time.Duration(minute) * time.Minute) }
	ready := func(ip string, minute int) *projections.PodEndpoint {
		return pod(ip, readySince(corev1.ConditionTrue, at(minute)))
	}
	created := func(minute int) *corev1.Service {
		return service(func(s *corev1.Service) { s.CreationTimestamp = metav1.NewTime(at(minute)) })
	}
	never := time.Time{}
	var times TriggerTimes
	forget := func() { times.Forget(object.KeyOf(service())) }
	for n, step := range []struct {
		what    string
		service *corev1.Service
		pods    []*projections.PodEndpoint
		want    time.Time
	}{
		{"a new Service, although its Pod is older", created(5), []*projections.PodEndpoint{ready("1", 1)}, at(5)},
		{"nothing", created(5), []*projections.PodEndpoint{ready("1", 1)}, never},
		{"a Pod", created(5), []*projections.PodEndpoint{ready("1", 1), ready("2", 7)}, at(7)},
		{"two Pods, the earlier one counts", created(5), []*projections.PodEndpoint{ready("1", 9), ready("2", 8)}, at(8)},
		{"a Pod less", created(5), []*projections.PodEndpoint{ready("1", 9)}, never},
		{"which comes back as it was", created(5), []*projections.PodEndpoint{ready("1", 9), ready("2", 8)}, at(8)},
		{"a time before the last one", created(5), []*projections.PodEndpoint{ready("1", 3), ready("2", 8)}, never},
		{"no condition", created(5), []*projections.PodEndpoint{pod("1", func(p *corev1.Pod) { p.Status.Conditions = nil })}, never},
		{"another Service of the name, not noticed", created(20), nil, at(20)},
	} {
		if got := times.Observe(step.service, step.pods); !got.Equal(step.want) {
			t.Errorf("step %d, %s: got %v, want %v", n, step.what, got, step.want)
		}
	}
	forget()
	if got := times.Observe(created(30), []*projections.PodEndpoint{ready("1", 25)}); !got.Equal(at(30)) {
		t.Errorf("after Forget: got %v, want %v", got, at(30))
	}
}
