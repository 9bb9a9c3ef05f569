// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"net/http"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/adapter/clientgo"
	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/rig"
	"github.com/informer-gen/informer-gen/bench/server"
)

// framework is what a program is written to, over informers of either side.
type framework interface {
	// sync starts it, and returns when all objects of the world are there.
	sync() error
	// see sums up the objects. No handler has counted them: each counts as an event, too.
	see() (harness.Seen, error)
	// stop ends it and waits for the end.
	stop() error
}

// newFramework makes a framework over informers of e.Side that has not begun.
type newFramework func(e harness.Env, w server.World) (framework, error)

// factory is a SharedInformerFactory of client-go's.
type factory struct {
	informers.SharedInformerFactory
	world     server.World
	transport *http.Transport
	ctx       context.Context // of the informers
	cancel    func()
}

// newFactory makes a factory as it is.
func newFactory(e harness.Env, w server.World) (framework, error) { return newFactoryWith(e, w) }

// newStrippingFactory makes a factory with a transform that drops managedFields, as
// kube-controller-manager does.
func newStrippingFactory(e harness.Env, w server.World) (framework, error) {
	return newFactoryWith(e, w, informers.WithTransform(rig.StripManagedFields))
}

func newFactoryWith(e harness.Env, w server.World, options ...informers.SharedInformerOption) (framework, error) {
	newOne := func(config *rest.Config) (informers.SharedInformerFactory, error) {
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		return informers.NewSharedInformerFactoryWithOptions(client, 0, options...), nil
	}
	transport := &http.Transport{}
	config := configOf(e, w, transport)
	var made informers.SharedInformerFactory
	var err error
	if e.Side == harness.Ours {
		var resources []schema.GroupVersionResource
		for _, kind := range w.Kinds() {
			resources = append(resources, kind.Resource)
		}
		made, err = clientgo.NewFactory(config, newOne, resources...)
	} else {
		made, err = newOne(config)
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &factory{made, w, transport, ctx, cancel}, nil
}

// configOf returns the configuration of clients that have their transport to themselves.
func configOf(e harness.Env, w server.World, transport *http.Transport) *rest.Config {
	config := server.From{Server: e.Server, Protobuf: w.Protobuf}.Config()
	config.Transport = transport
	return config
}

func (f *factory) informers() (all []cache.SharedIndexInformer, err error) {
	for _, kind := range f.world.Kinds() {
		generic, e := f.ForResource(kind.Resource)
		if e != nil {
			return nil, e
		}
		all = append(all, generic.Informer())
	}
	return all, nil
}

func (f *factory) sync() error {
	all, err := f.informers()
	if err != nil {
		return err
	}
	f.StartWithContext(f.ctx)
	for _, i := range all {
		if err := rig.Wait(i.HasSyncedChecker().Done(), "the informer to sync"); err != nil {
			return err
		}
	}
	return nil
}

func (f *factory) see() (saw harness.Seen, err error) {
	all, err := f.informers()
	for _, i := range all {
		for _, obj := range i.GetStore().List() {
			err = errors.Join(err, count(&saw, obj))
		}
	}
	return saw, err
}

// count adds an object to what was seen.
func count(saw *harness.Seen, item any) error {
	obj, err := meta.Accessor(item)
	if err != nil {
		return err
	}
	saw.Objects++
	saw.Events++
	saw.Digest += rig.Digest(obj.GetNamespace(), obj.GetName(), obj.GetResourceVersion())
	return nil
}

func (f *factory) stop() error {
	f.cancel()
	f.Shutdown()
	f.transport.CloseIdleConnections()
	return nil
}
