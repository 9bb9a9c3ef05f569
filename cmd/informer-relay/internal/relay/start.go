// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/cmd/informer-relay/internal/configfile"
	"github.com/informer-gen/informer-gen/server/protobuf"
	"github.com/informer-gen/informer-gen/server/serve"
	"github.com/informer-gen/informer-gen/server/upstream"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

const (
	firstPause = time.Second // between two requests to an API server that doesn't answer
	maxPause   = 30 * time.Second
)

type serving struct {
	handler *serve.Handler
	caches  []cache
}

type cache struct {
	*watchcache.Cache
	name string // such as pods/v1 in shop
}

// start looks the resources up at the API server until it has them all, and makes the caches and
// their handler. It fails if they can't be served, or ctx ends.
func (r *Relay) start(ctx context.Context) (*serving, error) {
	s := &serving{}
	var resources []serve.Resource
	for _, configured := range r.config.Resources {
		known, err := r.awaitResource(ctx, configured)
		if err != nil {
			return nil, err
		}
		resource, err := s.add(r, configured, known)
		if err != nil {
			return nil, err
		}
		resources = append(resources, resource)
	}
	var err error
	s.handler, err = serve.New(serve.Config{
		Resources: resources, MaxWatches: r.config.Limits.Watches, MaxJoins: r.config.Limits.Joins,
		Authorize: r.access.Authorize, ReviewInterval: r.config.Access.ReviewWatchesEvery, Shards: true,
	})
	return s, err
}

func (r *Relay) awaitResource(ctx context.Context, resource configfile.Resource) (*metav1.APIResource, error) {
	logger := klog.FromContext(ctx)
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		known, err := r.discovery.find(ctx, resource)
		if err == nil || errors.Is(err, errConfigMismatch) {
			return known, err
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		logger.Error(err, "A resource can't be served yet; the API server will be asked again", "pause", pause)
		select {
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
		}
	}
}

func (s *serving) add(r *Relay, configured configfile.Resource, known *metav1.APIResource) (serve.Resource, error) {
	resource := serve.Resource{
		GroupVersionResource: configured.GVR(),
		Kind:                 known.Kind,
		Singular:             known.SingularName,
		ShortNames:           known.ShortNames,
		Namespaced:           known.Namespaced,
		Fields:               configured.SelectableFields,
		Strict:               configured.Strict,
		Protobuf:             configured.Protobuf,
	}
	if configured.PassWrites || configured.Strict {
		resource.Upstream = r.proxy
	}
	if len(configured.Namespaces) == 0 {
		var err error
		resource.Cache, err = s.newCache(r, configured, known.Kind, "")
		return resource, err
	}
	resource.Namespaces = map[string]*watchcache.Cache{}
	for _, namespace := range configured.Namespaces {
		cache, err := s.newCache(r, configured, known.Kind, namespace)
		if err != nil {
			return resource, err
		}
		resource.Namespaces[namespace] = cache
	}
	return resource, nil
}

// newCache makes the cache of a resource in one namespace, or in all for "".
func (s *serving) newCache(r *Relay, configured configfile.Resource, kind, namespace string) (*watchcache.Cache, error) {
	options := upstream.Options{
		Namespace:     namespace,
		LabelSelector: configured.LabelSelector,
		FieldSelector: configured.FieldSelector,
		Kind:          kind,
		Fields:        configured.SelectableFields,
		Drop:          configured.Drop,
	}
	if configured.Protobuf {
		options.Protobuf = protobuf.BuiltIn(configured.GVR().GroupVersion().WithKind(kind))
	}
	storage, err := upstream.New(r.client, configured.GVR(), options)
	if err != nil {
		return nil, err
	}
	name := configured.GVR().GroupResource().String() + "/" + configured.Version
	if namespace != "" {
		name += " in " + namespace
	}
	c, err := watchcache.New(watchcache.Config{
		Storage: storage, Name: name, Metrics: r.metrics,
		Age: configured.History.Age, Bytes: int64(configured.History.Bytes), MergeSlow: configured.History.MergeSlow,
	})
	if err != nil {
		return nil, err
	}
	s.caches = append(s.caches, cache{c, name})
	return c, nil
}
