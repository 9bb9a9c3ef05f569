// SPDX-License-Identifier: Apache-2.0

package devserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/devserver/internal/builtin"
)

// awaitCaches waits until each watch cache has all changes up to rev. etcd sends a change with the
// state before it, and a compaction removes such states. A cache that is behind would start over,
// and answer its watches with 410.
func (s *Server) awaitCaches(ctx context.Context, rev int64) error {
	client := &http.Client{Transport: s.loop.transport}
	paths := []string{crdPath}
	add := func(r schema.GroupVersionResource) {
		prefix := "/apis/" + r.Group
		if r.Group == "" {
			prefix = "/api"
		}
		paths = append(paths, prefix+"/"+r.Version+"/"+r.Resource)
	}
	if s.api.builtIns != nil {
		for _, r := range builtin.Resources() {
			add(r.GroupVersionResource)
		}
	}
	crds, err := s.api.Informers.Apiextensions().V1().CustomResourceDefinitions().Lister().List(labels.Everything())
	if err != nil {
		return err
	}
	for _, crd := range crds {
		for _, v := range crd.Spec.Versions {
			if v.Served && isEstablished(crd) && crd.DeletionTimestamp == nil {
				add(schema.GroupVersionResource{Group: crd.Spec.Group, Version: v.Name, Resource: crd.Spec.Names.Plural})
			}
		}
	}

	errs := make([]error, len(paths))
	var all sync.WaitGroup
	for i, path := range paths {
		all.Go(func() {
			// A list of nothing, from the cache.
			url := fmt.Sprintf("http://loopback%s?labelSelector=devserver%%3Dnone&resourceVersionMatch=NotOlderThan&resourceVersion=%d", path, rev)
			errs[i] = poll(ctx, func(ctx context.Context) error {
				if err := s.running(); err != nil {
					return refusal{err}
				}
				return askServed(ctx, client, url)
			})
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// askServed is ask for a collection that may be gone with its CRD.
func askServed(ctx context.Context, client *http.Client, url string) error {
	resp, err := get(ctx, client, url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusNotFound {
		return fmt.Errorf("GET %s: %s", url, resp.Status)
	}
	return nil
}
