// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/bench/generated/informers"
	certmanager "github.com/informer-gen/informer-gen/bench/generated/projections/certmanager/v1"
	core "github.com/informer-gen/informer-gen/bench/generated/projections/core/v1"
	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/report"
	"github.com/informer-gen/informer-gen/bench/rig"
	"github.com/informer-gen/informer-gen/bench/server"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// projectionBenches are initial syncs of objects of which the program reads a few fields: ours are
// projections, client-go's have all fields, or their metadata.
func projectionBenches() []harness.Bench {
	pods := func(z harness.Sizes) server.World { return server.World{Pods: z.Pods} }
	protobuf := func(z harness.Sizes) server.World { return server.World{Pods: z.Pods, Protobuf: true} }
	certificates := func(z harness.Sizes) server.World { return server.World{Certificates: z.CRs / 2} }
	meta := func(z harness.Sizes) server.World {
		return server.World{Pods: z.Pods, Protobuf: true, Metadata: true}
	}
	return []harness.Bench{
		projectionBench("projection/pods", "6 fields of %s Pods", pods, placements,
			syncMarks{wall: 0.05, cpu: 0.06, bytes: 0.04, retained: 0.06}, splitting, 1.5),
		projectionBench("projection/protobuf", "6 fields of %s Pods in protobuf", protobuf, placements,
			syncMarks{cpu: 0.2}, reading, 2),
		projectionBench("projection/endpoints", "what an endpoints controller reads of %s Pods", pods, endpoints,
			syncMarks{}, splitting, 1.5),
		projectionBench("projection/crs", "readiness and secret of %s Certificates", certificates, readiness,
			syncMarks{retained: 0.15}, splitting, 1.5),
		projectionBench("projection/metadata", "the metadata of %s Pods in protobuf", meta, onlyMetadata,
			syncMarks{cpu: 0.25, retained: 0.35}, "", 0),
	}
}

// projectionBench measures the sync of one informer by watch-list. Its CPU time may be so many
// times that of a lower bound.
func projectionBench(name, what string, has func(harness.Sizes) server.World, subject func(harness.Side, server.From, int) (rig.Subject, error),
	marks syncMarks, bound harness.Side, most float64) harness.Bench {
	b := syncBench(name, "", has, watchList, true, marks)
	b.Title = func(z harness.Sizes) string {
		return "initial sync by watch-list of " + fmt.Sprintf(what, report.Digits(float64(has(z).Objects())))
	}
	b.Measures[1].Beside, b.Measures[1].BesideRatio = bound, most
	if bound == "" {
		b.Others = nil
	}
	b.Prepare = func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
		w := has(e.Sizes)
		if !e.Side.Peer() {
			return prepareBound(e, w, watchList)
		}
		return func() (harness.Outcome, error) {
			return syncFleet(e, w, func() (rig.Fleet, error) {
				s, err := subject(e.Side, server.From{Server: e.Server, Protobuf: w.Protobuf, Strip: true}, w.Objects())
				return rig.Fleet{s}, err
			})
		}, nil, server.Begin(e.Server)
	}
	return b
}

func placements(s harness.Side, f server.From, n int) (rig.Subject, error) {
	if s == harness.ClientGo {
		return wholeSubject(server.PodRemote(f), n, core.NewPodPlacement)
	}
	return projected(f, n, func(factory informers.SharedInformerFactory) *informer.SharedIndexInformer[*core.PodPlacement] {
		return factory.Core().V1().PodPlacements().Informer()
	})
}

func endpoints(s harness.Side, f server.From, n int) (rig.Subject, error) {
	if s == harness.ClientGo {
		return wholeSubject(server.PodRemote(f), n, core.NewPodEndpoint)
	}
	return projected(f, n, func(factory informers.SharedInformerFactory) *informer.SharedIndexInformer[*core.PodEndpoint] {
		return factory.Core().V1().PodEndpoints().Informer()
	})
}

func readiness(s harness.Side, f server.From, n int) (rig.Subject, error) {
	if s == harness.ClientGo {
		return wholeSubject(server.CertificateRemote(f), n, certmanager.NewCertificateReadiness)
	}
	return projected(f, n, func(factory informers.SharedInformerFactory) *informer.SharedIndexInformer[*certmanager.CertificateReadiness] {
		return factory.CertManager().V1().CertificateReadinesses().Informer()
	})
}

func onlyMetadata(s harness.Side, f server.From, n int) (rig.Subject, error) {
	if s != harness.ClientGo {
		client, err := source.NewClient(f.Config())
		if err != nil {
			return nil, err
		}
		src, err := source.New[*metav1.PartialObjectMetadata](client, data.Pods.Resource, source.Options{Kind: data.Pods.Name, DropManagedFields: true})
		if err != nil {
			return nil, err
		}
		i, err := informer.New(src)
		if err != nil {
			return nil, err
		}
		return rig.SubjectOf(&rig.Ours[*metav1.PartialObjectMetadata]{Informer: i}, n, 0, func(m *metav1.PartialObjectMetadata) any { return m })
	}
	client, err := metadata.NewForConfig(f.Config())
	if err != nil {
		return nil, err
	}
	i := metadatainformer.NewFilteredMetadataInformer(client, data.Pods.Resource, metav1.NamespaceAll, 0,
		cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}, nil).Informer()
	if err := i.SetTransform(rig.StripManagedFields); err != nil {
		return nil, err
	}
	r := &rig.ClientGo[*metav1.PartialObjectMetadata]{Informer: i}
	return rig.SubjectOf(r, n, 0, func(m *metav1.PartialObjectMetadata) any { return m })
}

// wholeSubject is client-go's informer of whole objects, of which the fields of a projection are
// compared.
func wholeSubject[T server.Object, P object.Object](c server.Collection[T], n int, project func(T) P) (rig.Subject, error) {
	r, err := rig.New(harness.ClientGo, c, rig.Setup{Strip: true})
	if err != nil {
		return nil, err
	}
	return rig.SubjectOf(r, n, 0, func(obj T) any { return untyped(project(obj)) })
}

// projected is the informer of a projection, of a generated factory.
func projected[P object.Object](f server.From, n int, of func(informers.SharedInformerFactory) *informer.SharedIndexInformer[P]) (rig.Subject, error) {
	client, err := source.NewClient(f.Config())
	if err != nil {
		return nil, err
	}
	opts := []informer.Option{informer.WithoutManagedFields()}
	if !f.Protobuf {
		opts = append(opts, informer.WithFormats(source.JSON))
	}
	i := of(informers.NewSharedInformerFactory(client, opts...))
	return rig.SubjectOf(&rig.Ours[P]{Informer: i}, n, 0, func(obj P) any { return untyped(obj) })
}

// untyped returns a copy of an object without apiVersion and kind, which client-go's have only if
// the server sends them.
func untyped(obj object.Object) object.Object {
	obj = obj.DeepCopyObject().(object.Object)
	obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return obj
}
