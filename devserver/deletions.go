// SPDX-License-Identifier: Apache-2.0

package devserver

import (
	"context"
	"fmt"
	"slices"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/devserver/internal/builtin"
	"github.com/informer-gen/informer-gen/devserver/internal/deletion"
)

func (s *Server) startDeletions(ctx context.Context, collectGarbage bool) error {
	if s.api.builtIns == nil && !collectGarbage {
		return nil
	}
	config := s.loop.config()
	config.WarningHandler = rest.NoWarnings{} // about deprecated kinds that are served
	objects, err := metadata.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make a client of metadata: %w", err)
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var parts sync.WaitGroup
	s.cleanups = append(s.cleanups, func() error { cancel(); parts.Wait(); return nil })

	if b := s.api.builtIns; b != nil {
		namespaces := deletion.NewNamespaces(b.client.core.Namespaces(), objects, s.resources, b.informers.namespaces.informer)
		parts.Go(func() {
			if err := namespaces.Run(running); err != nil {
				s.failed <- fmt.Errorf("remove the content of namespaces: %w", err)
			}
		})
	}
	if !collectGarbage {
		return nil
	}
	changed := make(chan struct{}, 1)
	note := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	crds := s.api.Informers.Apiextensions().V1().CustomResourceDefinitions().Informer()
	registration, err := crds.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { note() }, UpdateFunc: func(_, _ any) { note() }, DeleteFunc: func(any) { note() },
	})
	if err != nil {
		return fmt.Errorf("watch CRDs: %w", err)
	}
	garbage := deletion.NewGarbage(objects, func() []deletion.Resource {
		return slices.DeleteFunc(s.resources(), func(r deletion.Resource) bool { return r.Resource == "events" && r.Group == "" })
	}, changed)
	parts.Go(func() {
		garbage.Run(running)
		_ = crds.RemoveEventHandler(registration) // fails if all handlers are gone
	})
	return nil
}

func (s *Server) resources() []deletion.Resource {
	all := []deletion.Resource{{
		GroupVersionResource: apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"),
		Kind:                 "CustomResourceDefinition",
	}}
	if s.api.builtIns != nil {
		for _, r := range builtin.Resources() {
			all = append(all, deletion.Resource(r))
		}
	}
	crds, err := s.api.Informers.Apiextensions().V1().CustomResourceDefinitions().Lister().List(labels.Everything())
	if err != nil { // a lister that selects everything returns no error
		return all
	}
	for _, crd := range crds {
		for _, v := range crd.Spec.Versions {
			if !v.Served || !isEstablished(crd) {
				continue
			}
			all = append(all, deletion.Resource{
				GroupVersionResource: schema.GroupVersionResource{Group: crd.Spec.Group, Version: v.Name, Resource: crd.Spec.Names.Plural},
				Kind:                 crd.Spec.Names.Kind,
				Namespaced:           crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
			})
			break
		}
	}
	return all
}
