// SPDX-License-Identifier: Apache-2.0

package interop

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/adapter/clientgo"
)

// engine puts informers under generated factories.
type engine struct {
	name        string
	installCRDs func(t *testing.T, factory externalversions.SharedInformerFactory, config *rest.Config)
	installCore func(t *testing.T, factory informers.SharedInformerFactory, config *rest.Config)
}

var engines = [2]engine{
	{
		name:        "client-go",
		installCRDs: func(*testing.T, externalversions.SharedInformerFactory, *rest.Config) {},
		installCore: func(*testing.T, informers.SharedInformerFactory, *rest.Config) {},
	},
	{
		name: "informer-gen",
		installCRDs: func(_ *testing.T, factory externalversions.SharedInformerFactory, _ *rest.Config) {
			factory.InformerFor(&apiextensionsv1.CustomResourceDefinition{}, func(c apiextensions.Interface, resync time.Duration) cache.SharedIndexInformer {
				lw := cache.NewListWatchFromClient(c.ApiextensionsV1().RESTClient(), "customresourcedefinitions", "", fields.Everything())
				return clientgo.NewInformer(lw, &apiextensionsv1.CustomResourceDefinition{}, resync, nil)
			})
		},
		installCore: func(_ *testing.T, factory informers.SharedInformerFactory, _ *rest.Config) {
			factory.InformerFor(&corev1.Node{}, func(c kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
				return clientgo.NewInformer(cache.NewListWatchFromClient(c.CoreV1().RESTClient(), "nodes", "", fields.Everything()), &corev1.Node{}, resync, nil)
			})
			factory.InformerFor(&corev1.Service{}, func(c kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
				return clientgo.NewInformer(cache.NewListWatchFromClient(c.CoreV1().RESTClient(), "services", "", fields.Everything()), &corev1.Service{}, resync, nil)
			})
		},
	},
}
