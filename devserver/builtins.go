// SPDX-License-Identifier: Apache-2.0

package devserver

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle"
	webhookinit "k8s.io/apiserver/pkg/admission/plugin/webhook/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/validating"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/devserver/internal/builtin"
	"github.com/informer-gen/informer-gen/devserver/internal/rbac"
)

type builtIns struct {
	kinds     *builtin.Kinds // set by install
	access    *access
	rbac      bool
	admission admission.Interface
	client    *admissionClients
	informers *admissionInformers // for admission
	cancel    context.CancelFunc
	ended     chan struct{} // closed when the informers have ended, after cancel
}

// newBuiltIns adds the admission to config, and the built-in kinds' part to access.
func newBuiltIns(config *genericapiserver.RecommendedConfig, loopback *rest.Config, access *access, withRBAC bool) (*builtIns, error) {
	client, err := newAdmissionClients(loopback)
	if err != nil {
		return nil, err
	}
	b := &builtIns{access: access, rbac: withRBAC, client: client, informers: newAdmissionInformers(client), ended: make(chan struct{})}
	access.tokens = builtin.NewTokens()

	namespaces, err := lifecycle.NewLifecycle(sets.New(metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic))
	if err != nil {
		return nil, err
	}
	mutating, err := mutating.NewMutatingWebhook(nil)
	if err != nil {
		return nil, err
	}
	validating, err := validating.NewValidatingAdmissionWebhook(nil)
	if err != nil {
		return nil, err
	}
	initializers := admission.PluginInitializers{
		webhookinit.NewPluginInitializer(webhookAuth(loopback), noServices{}),
		initializer.New(client, nil, b.informers, config.Authorization.Authorizer, config.FeatureGate, config.EffectiveVersion, config.DrainedNotify(), nil),
	}
	plugins := []admission.Interface{noHiddenCRDs{}, namespaces, mutating, validating}
	if withRBAC {
		roles := rbac.New(b)
		access.roles = &roles
		plugins = append(plugins, rbac.NewEscalation(roles))
	}
	for _, plugin := range plugins {
		initializers.Initialize(plugin)
		if err := admission.ValidateInitialization(plugin); err != nil {
			return nil, err
		}
	}
	b.admission = admission.NewChainHandler(plugins...)
	config.AdmissionControl = b.admission
	config.OpenAPIConfig.IgnorePrefixes = append(config.OpenAPIConfig.IgnorePrefixes, builtin.OpenAPIPrefixes()...)
	config.OpenAPIV3Config.IgnorePrefixes = append(config.OpenAPIV3Config.IgnorePrefixes, builtin.OpenAPIPrefixes()...)
	return b, nil
}

// install serves the kinds by api, which was made from config.
func (b *builtIns) install(api *genericapiserver.GenericAPIServer, config *genericapiserver.RecommendedConfig, etcd genericoptions.EtcdOptions, made *storages) (err error) {
	etcd.StorageConfig.StorageObjectCountTracker = config.StorageObjectCountTracker
	b.kinds, err = builtin.Install(api, builtin.Config{
		Etcd:              etcd,
		Track:             made.track,
		Admission:         b.admission,
		Access:            b.access,
		Tokens:            b.access.tokens,
		UncachedRoles:     b.rbac,
		MinRequestTimeout: time.Duration(config.MinRequestTimeout) * time.Second,
		MaxBody:           config.MaxRequestBodyBytes,
	})
	return err
}

// start waits until the kinds and their admission are ready. The server must answer already.
func (b *builtIns) start(ctx context.Context) error {
	if err := poll(ctx, func(context.Context) error { return b.kinds.Ready() }); err != nil {
		return fmt.Errorf("wait for built-in kinds: %w", err)
	}
	err := b.kinds.CreateNamespaces(ctx, metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic, "kube-node-lease")
	if err == nil && b.rbac {
		err = b.kinds.CreateRoles(ctx)
	}
	if err != nil {
		return err
	}
	running, cancel := context.WithCancel(context.Background())
	b.cancel = cancel
	go func() {
		defer close(b.ended)
		var warming sync.WaitGroup
		warming.Go(builtin.Warm)
		b.informers.run(running)
		warming.Wait()
	}()
	if err := b.informers.awaitSynced(ctx); err != nil {
		b.stop()
		return fmt.Errorf("read what admission depends on: %w", err)
	}
	return nil
}

func (b *builtIns) stop() {
	b.cancel()
	<-b.ended
}

// Get returns an object for RBAC.
func (b *builtIns) Get(ctx context.Context, resource, namespace, name string) (runtime.Object, error) {
	return b.kinds.Get(ctx, resource, namespace, name)
}

// List returns objects for RBAC.
func (b *builtIns) List(ctx context.Context, resource, namespace string) (runtime.Object, error) {
	return b.kinds.List(ctx, resource, namespace)
}

// noHiddenCRDs refuses CRDs of built-in groups, whose objects would never be served.
type noHiddenCRDs struct{}

var _ admission.ValidationInterface = noHiddenCRDs{}

func (noHiddenCRDs) Handles(op admission.Operation) bool { return op == admission.Create }

func (noHiddenCRDs) Validate(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if crd, ok := a.GetObject().(*apiextensions.CustomResourceDefinition); ok && builtin.Serves(crd.Spec.Group) {
		return admission.NewForbidden(a, errHidden(crd.Spec.Group))
	}
	return nil
}

func errHidden(group string) error {
	return fmt.Errorf("the built-in kinds of group %s would hide its objects; start without BuiltInKinds to serve it", group)
}

func (a *apiServer) checkHidden(crds []*apiextensionsv1.CustomResourceDefinition) error {
	for _, crd := range crds {
		if a.builtIns != nil && builtin.Serves(crd.Spec.Group) {
			return fmt.Errorf("CRD %s of an earlier run: %w", crd.Name, errHidden(crd.Spec.Group))
		}
	}
	return nil
}
