// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/endpoints"
	"k8s.io/apiserver/pkg/endpoints/discovery"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericoptions "k8s.io/apiserver/pkg/server/options"
)

// Config configures [Install]; all fields are required.
type Config struct {
	Etcd genericoptions.EtcdOptions
	// Track sees each storage, which must be destroyed in the end.
	Track     func(generic.RESTOptionsGetter) generic.RESTOptionsGetter
	Admission admission.Interface
	Access    Access  // answers reviews
	Tokens    *Tokens // Install sets its Get
	// UncachedRoles keeps roles and bindings out of the watch cache. A list from it waits for the
	// cache to catch up, which would delay each request that they authorize.
	UncachedRoles bool
	// MinRequestTimeout is the server's.
	MinRequestTimeout time.Duration
	MaxBody           int64 // limit of a request's body
}

// Kinds are the built-in kinds of one server.
type Kinds struct {
	stores map[string]*registry.Store // by resource
	paths  []string                   // of the groups and versions, without a slash before or after
}

// Install makes the storages of all kinds and serves them by server, which must not have been
// prepared to run. The caller must destroy the storages reported to Config.Track.
func Install(server *genericapiserver.GenericAPIServer, c Config) (*Kinds, error) {
	served := map[schema.GroupVersion]map[string]rest.Storage{}
	var order []schema.GroupVersion
	serve := func(gv schema.GroupVersion, resource string, storage rest.Storage) {
		if served[gv] == nil {
			served[gv] = map[string]rest.Storage{}
			order = append(order, gv)
		}
		served[gv][resource] = storage
	}

	all := &Kinds{stores: map[string]*registry.Store{}}
	codecs := serializer.NewCodecFactory(schemeOf())
	protobuf, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	if !ok {
		return nil, errors.New("there is no serializer for protobuf")
	}
	for _, k := range kinds() {
		etcd := c.Etcd
		etcd.EnableWatchCache = etcd.EnableWatchCache && !(c.UncachedRoles && k.gv.Group == rbacv1.GroupName)
		versioner := schema.GroupVersions{k.gv}
		etcd.StorageConfig.Codec = codecs.CodecForVersions(protobuf.Serializer, codecs.UniversalDeserializer(), versioner, runtime.InternalGroupVersioner)
		etcd.StorageConfig.EncodeVersioner = versioner
		options := c.Track(etcd.CreateRESTOptionsGetter(&genericoptions.SimpleStorageFactory{StorageConfig: etcd.StorageConfig}, nil))
		main, err := newMainStorage(k, options)
		if err != nil {
			return nil, err
		}
		all.stores[k.resource] = main.Store
		if k.resource == "namespaces" {
			namespaces := newNamespaceStorage(main)
			serve(k.gv, k.resource, namespaces)
			serve(k.gv, k.resource+"/finalize", newFinalizeStorage(namespaces, k))
		} else {
			serve(k.gv, k.resource, main)
		}
		_, hasStatus := partOf(k.newObject(), "Status")
		if hasStatus {
			serve(k.gv, k.resource+"/status", newStatusStorage(main.Store, k))
		}
		if !k.alias.Empty() {
			serve(k.alias, k.resource, main)
			if hasStatus {
				serve(k.alias, k.resource+"/status", newStatusStorage(main.Store, k))
			}
		}
		if k.hasApproval {
			serve(k.gv, k.resource+"/approval", newStatusStorage(main.Store, k))
		}
		if k.hasScale {
			serve(k.gv, k.resource+"/scale", scaleStorage{main.Store, k.gv})
		}
	}

	serve(corev1.SchemeGroupVersion, "serviceaccounts/token", tokenStorage{c.Tokens})
	pods, budgets := withAnyUpdate(all.stores["pods"]), withAnyUpdate(all.stores["poddisruptionbudgets"])
	serve(corev1.SchemeGroupVersion, "pods/binding", bindingStorage{pods})
	serve(corev1.SchemeGroupVersion, "pods/eviction", evictionStorage{pods, budgets})
	for _, r := range reviews() {
		serve(r.gv, r.resource, reviewStorage{r, &c})
	}
	c.Tokens.Get = func(ctx context.Context, namespace, name string) (*corev1.ServiceAccount, error) {
		obj, err := all.Get(ctx, "serviceaccounts", namespace, name)
		if err != nil {
			return nil, err
		}
		return obj.(*corev1.ServiceAccount), nil
	}
	for i, gv := range order {
		if err := all.install(server, c, gv, served[gv], len(order)-i); err != nil {
			return nil, fmt.Errorf("serve %s: %w", gv, err)
		}
	}
	for _, group := range groupsOf(order) {
		server.DiscoveryGroupManager.AddGroup(group)
		server.Handler.GoRestfulContainer.Add(discovery.NewAPIGroupHandler(server.Serializer, group).WebService())
	}
	return all, nil
}

// groupsOf returns the groups of versions, without core. Clients prefer a group's first version.
func groupsOf(gvs []schema.GroupVersion) (groups []metav1.APIGroup) {
	for _, gv := range gvs {
		if gv.Group == "" {
			continue
		}
		version := metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: gv.Version}
		i := slices.IndexFunc(groups, func(g metav1.APIGroup) bool { return g.Name == gv.Group })
		if i < 0 {
			i = len(groups)
			groups = append(groups, metav1.APIGroup{Name: gv.Group, PreferredVersion: version})
		}
		groups[i].Versions = append(groups[i].Versions, version)
	}
	return groups
}

// install does the work of the server's InstallAPIGroups for one group and version, without
// building OpenAPI. Clients prefer the version with the highest priority.
func (all *Kinds) install(server *genericapiserver.GenericAPIServer, c Config, gv schema.GroupVersion, storages map[string]rest.Storage, priority int) error {
	s := schemeOf()
	info := genericapiserver.NewDefaultAPIGroupInfo(gv.Group, s, runtime.NewParameterCodec(s), serializer.NewCodecFactory(s))
	versions := map[string][]string{}
	for resource := range storages {
		versions[resource] = []string{gv.String()}
	}
	group := &endpoints.APIGroupVersion{
		Storage:                     storages,
		Root:                        genericapiserver.APIGroupPrefix,
		GroupVersion:                gv,
		AllServedVersionsByResource: versions,
		OptionsExternalVersion:      info.OptionsExternalVersion,
		Serializer:                  info.NegotiatedSerializer,
		ParameterCodec:              info.ParameterCodec,
		Typer:                       s,
		Creater:                     s,
		Convertor:                   s,
		ConvertabilityChecker:       s,
		Defaulter:                   s,
		Namer:                       meta.NewAccessor(),
		UnsafeConvertor:             runtime.UnsafeObjectConvertor(s),
		TypeConverter:               newConverter(),
		EquivalentResourceRegistry:  server.EquivalentResourceRegistry,
		Authorizer:                  server.Authorizer,
		Admit:                       c.Admission,
		MinRequestTimeout:           c.MinRequestTimeout,
		MaxRequestBodyBytes:         c.MaxBody,
	}
	found := server.AggregatedDiscoveryGroupManager
	if gv.Group == "" {
		group.Root = genericapiserver.DefaultLegacyAPIPrefix
		found = server.AggregatedLegacyDiscoveryGroupManager
	}
	resources, _, err := group.InstallREST(server.Handler.GoRestfulContainer)
	if err != nil {
		return err
	}
	found.AddGroupVersion(gv.Group, apidiscoveryv2.APIVersionDiscovery{
		Version: gv.Version, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent, Resources: resources,
	})
	// before the groups of custom resources, which have 1000
	found.SetGroupVersionPriority(metav1.GroupVersion{Group: gv.Group, Version: gv.Version}, 17000, priority)
	if gv.Group == "" {
		all.paths = append(all.paths, "api/"+gv.Version)
		return nil
	}
	all.paths = append(all.paths, "apis/"+gv.String())
	return nil
}

// Ready returns nil when every kind can be listed and watched.
func (all *Kinds) Ready() error {
	for _, store := range all.stores {
		if err := store.ReadinessCheck(); err != nil {
			return fmt.Errorf("%s: %w", store.DefaultQualifiedResource, err)
		}
	}
	return nil
}

// CreateNamespaces creates the namespaces that are missing.
func (all *Kinds) CreateNamespaces(ctx context.Context, names ...string) error {
	for _, name := range names {
		if err := all.ensure(ctx, "namespaces", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			return err
		}
	}
	return nil
}

// ensure creates a cluster-scoped object if it doesn't exist.
func (all *Kinds) ensure(ctx context.Context, resource string, obj runtime.Object) error {
	schemeOf().Default(obj)
	ctx = genericapirequest.WithNamespace(ctx, "")
	_, err := all.stores[resource].Create(ctx, obj, rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create %s %s: %w", resource, accessor(obj).GetName(), err)
	}
	return nil
}

// Get returns an object as it is now. A cluster-scoped one has no namespace.
func (all *Kinds) Get(ctx context.Context, resource, namespace, name string) (runtime.Object, error) {
	return all.stores[resource].Get(genericapirequest.WithNamespace(ctx, namespace), name, &metav1.GetOptions{})
}

// List returns the objects in a namespace, or all cluster-scoped ones, as they are now.
func (all *Kinds) List(ctx context.Context, resource, namespace string) (runtime.Object, error) {
	return all.stores[resource].List(genericapirequest.WithNamespace(ctx, namespace), nil)
}

// Resource is a served collection of objects.
type Resource struct {
	schema.GroupVersionResource
	Kind       string
	Namespaced bool
}

// Resources returns all collections of built-in kinds.
func Resources() []Resource {
	var all []Resource
	for _, k := range kinds() {
		all = append(all, Resource{k.gv.WithResource(k.resource), k.gvk(schemeOf()).Kind, !k.clusterScoped})
	}
	return all
}

// versions returns the served groups and versions.
var versions = sync.OnceValue(func() []schema.GroupVersion {
	var all []schema.GroupVersion
	add := func(gv schema.GroupVersion) {
		if !gv.Empty() && !slices.Contains(all, gv) {
			all = append(all, gv)
		}
	}
	for _, k := range kinds() {
		add(k.gv)
		add(k.alias)
	}
	for _, r := range reviews() {
		add(r.gv)
	}
	return all
})

// Serves reports whether a group has built-in kinds.
func Serves(group string) bool {
	return slices.ContainsFunc(versions(), func(gv schema.GroupVersion) bool { return gv.Group == group })
}
