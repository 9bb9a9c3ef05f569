// SPDX-License-Identifier: Apache-2.0

package devserver

import (
	"context"
	"sync"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/admissionregistration"
	admissioninformersv1 "k8s.io/client-go/informers/admissionregistration/v1"
	"k8s.io/client-go/informers/core"
	coreinformersv1 "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	typedadmissionv1 "k8s.io/client-go/kubernetes/typed/admissionregistration/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	admissionlistersv1 "k8s.io/client-go/listers/admissionregistration/v1"
	corelistersv1 "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// admissionClients has only the clients needed for admission; other methods panic. The whole
// clientset and informer factory would make programs 20 MB larger.
type admissionClients struct {
	kubernetes.Interface // nil
	core                 *typedcorev1.CoreV1Client
	admission            *typedadmissionv1.AdmissionregistrationV1Client
}

func newAdmissionClients(config *rest.Config) (*admissionClients, error) {
	core, err := typedcorev1.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	admission, err := typedadmissionv1.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &admissionClients{core: core, admission: admission}, nil
}

func (c *admissionClients) CoreV1() typedcorev1.CoreV1Interface { return c.core }

func (c *admissionClients) AdmissionregistrationV1() typedadmissionv1.AdmissionregistrationV1Interface {
	return c.admission
}

// admissionInformers has only the informers needed for admission; other methods panic.
type admissionInformers struct {
	informers.SharedInformerFactory // nil
	namespaces                      namespaceInformer
	mutating                        mutatingInformer
	validating                      validatingInformer
}

func newAdmissionInformers(client kubernetes.Interface) *admissionInformers {
	return &admissionInformers{
		namespaces: namespaceInformer{coreinformersv1.NewNamespaceInformer(client, 0, cache.Indexers{})},
		mutating:   mutatingInformer{admissioninformersv1.NewMutatingWebhookConfigurationInformer(client, 0, cache.Indexers{})},
		validating: validatingInformer{admissioninformersv1.NewValidatingWebhookConfigurationInformer(client, 0, cache.Indexers{})},
	}
}

func (f *admissionInformers) all() []cache.SharedIndexInformer {
	return []cache.SharedIndexInformer{f.namespaces.informer, f.mutating.informer, f.validating.informer}
}

func (f *admissionInformers) run(ctx context.Context) {
	var running sync.WaitGroup
	for _, informer := range f.all() {
		running.Go(func() { informer.RunWithContext(ctx) })
	}
	running.Wait()
}

func (f *admissionInformers) awaitSynced(ctx context.Context) error {
	for _, informer := range f.all() {
		select {
		case <-informer.HasSyncedChecker().Done():
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (f *admissionInformers) Core() core.Interface { return coreGroup{f: f} }

func (f *admissionInformers) Admissionregistration() admissionregistration.Interface {
	return admissionGroup{f: f}
}

type coreGroup struct {
	core.Interface // nil
	f              *admissionInformers
}

func (g coreGroup) V1() coreinformersv1.Interface { return coreVersion{f: g.f} }

type coreVersion struct {
	coreinformersv1.Interface // nil
	f                         *admissionInformers
}

func (v coreVersion) Namespaces() coreinformersv1.TypedNamespaceInformer {
	return coreinformersv1.ToTypedNamespaceInformer(v.f.namespaces)
}

type admissionGroup struct {
	admissionregistration.Interface // nil
	f                               *admissionInformers
}

func (g admissionGroup) V1() admissioninformersv1.Interface { return admissionVersion{f: g.f} }

type admissionVersion struct {
	admissioninformersv1.Interface // nil
	f                              *admissionInformers
}

func (v admissionVersion) MutatingWebhookConfigurations() admissioninformersv1.TypedMutatingWebhookConfigurationInformer {
	return admissioninformersv1.ToTypedMutatingWebhookConfigurationInformer(v.f.mutating)
}

func (v admissionVersion) ValidatingWebhookConfigurations() admissioninformersv1.TypedValidatingWebhookConfigurationInformer {
	return admissioninformersv1.ToTypedValidatingWebhookConfigurationInformer(v.f.validating)
}

type namespaceInformer struct{ informer cache.SharedIndexInformer }

func (i namespaceInformer) Informer() cache.SharedIndexInformer { return i.informer }
func (i namespaceInformer) Lister() corelistersv1.NamespaceLister {
	return corelistersv1.NewNamespaceLister(i.informer.GetIndexer())
}

type mutatingInformer struct{ informer cache.SharedIndexInformer }

func (i mutatingInformer) Informer() cache.SharedIndexInformer { return i.informer }
func (i mutatingInformer) Lister() admissionlistersv1.MutatingWebhookConfigurationLister {
	return admissionlistersv1.NewMutatingWebhookConfigurationLister(i.informer.GetIndexer())
}

type validatingInformer struct{ informer cache.SharedIndexInformer }

func (i validatingInformer) Informer() cache.SharedIndexInformer { return i.informer }
func (i validatingInformer) Lister() admissionlistersv1.ValidatingWebhookConfigurationLister {
	return admissionlistersv1.NewValidatingWebhookConfigurationLister(i.informer.GetIndexer())
}
