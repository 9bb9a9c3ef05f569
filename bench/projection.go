// SPDX-License-Identifier: Apache-2.0

package main

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/bench/generated/informers"
	core "github.com/informer-gen/informer-gen/bench/generated/projections/core/v1"
	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/report"
	"github.com/informer-gen/informer-gen/bench/rig"
	"github.com/informer-gen/informer-gen/bench/server"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// projectionBench syncs Pods for a program that reads six fields: ours are projections, client-go's
// have all fields.
func projectionBench() harness.Bench {
	b := syncBench("projection", "", somePods, false)
	b.Title = func(z harness.Sizes) string {
		return "initial sync by watch-list of 6 fields of " + report.Digits(float64(z.Pods)) + " Pods"
	}
	b.Prepare = func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
		return func() (harness.Outcome, error) {
			return syncFleet(e, somePods(e.Sizes), func() (rig.Fleet, error) {
				s, err := placements(e.Side, server.From{Server: e.Server, Strip: true}, e.Sizes.Pods)
				return rig.Fleet{s}, err
			})
		}, nil, server.Begin(e.Server)
	}
	return b
}

// placements returns an informer of n Pods. Only the fields of the projection are compared.
func placements(s harness.Side, f server.From, n int) (rig.Subject, error) {
	if s == harness.ClientGo {
		r, err := rig.New(harness.ClientGo, server.PodRemote(f), rig.Setup{Strip: true})
		if err != nil {
			return nil, err
		}
		return rig.SubjectOf(r, n, 0, func(pod *corev1.Pod) any { return untyped(core.NewPodPlacement(pod)) })
	}
	client, err := source.NewClient(f.Config())
	if err != nil {
		return nil, err
	}
	factory := informers.NewSharedInformerFactory(client, informer.WithoutManagedFields(), informer.WithFormats(source.JSON))
	i := factory.Core().V1().PodPlacements().Informer()
	return rig.SubjectOf(&rig.Ours[*core.PodPlacement]{Informer: i}, n, 0, func(pod *core.PodPlacement) any { return untyped(pod) })
}

// untyped returns a copy of an object without apiVersion and kind, which client-go's have only if
// the server sends them.
func untyped(obj object.Object) object.Object {
	obj = obj.DeepCopyObject().(object.Object)
	obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return obj
}
