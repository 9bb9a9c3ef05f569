// SPDX-License-Identifier: Apache-2.0

package interop

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/adapter/clientgo"
)

// engine makes generated factories with informers of one engine.
type engine struct {
	name string
	ours bool
}

var engines = [2]engine{{name: "client-go"}, {name: "informer-gen", ours: true}}

// crdFactory returns a factory for CRDs.
func (e engine) crdFactory(t *testing.T, config *rest.Config) externalversions.SharedInformerFactory {
	t.Helper()
	newFactory := func(config *rest.Config) (externalversions.SharedInformerFactory, error) {
		client, err := apiextensions.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		return externalversions.NewSharedInformerFactory(client, 0), nil
	}
	var factory externalversions.SharedInformerFactory
	var err error
	if e.ours {
		factory, err = clientgo.NewFactory(config, newFactory, crdResource)
	} else {
		factory, err = newFactory(config)
	}
	if err != nil {
		t.Fatal(err)
	}
	return factory
}

// coreFactory returns a factory for Nodes and Services.
func (e engine) coreFactory(t *testing.T, config *rest.Config) informers.SharedInformerFactory {
	t.Helper()
	newFactory := func(config *rest.Config) (informers.SharedInformerFactory, error) {
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		return informers.NewSharedInformerFactory(client, 0), nil
	}
	var factory informers.SharedInformerFactory
	var err error
	if e.ours {
		factory, err = clientgo.NewFactory(config, newFactory, corev1.SchemeGroupVersion.WithResource("nodes"), corev1.SchemeGroupVersion.WithResource("services"))
	} else {
		factory, err = newFactory(config)
	}
	if err != nil {
		t.Fatal(err)
	}
	return factory
}
