// SPDX-License-Identifier: Apache-2.0

package devserver

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	noopoteltrace "go.opentelemetry.io/otel/trace/noop"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/cmd/server/options"
	generatedopenapi "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/apimachinery/pkg/version"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/apiserver/pkg/util/openapi"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/kube-openapi/pkg/common"
)

// apiConfig configures newAPIServer; all fields are required.
type apiConfig struct {
	etcdURL           string
	publicAddr        *net.TCPAddr
	loopback          *rest.Config
	watchCache        bool
	minRequestSeconds int
	builtInKinds      bool
	rbac              bool
}

type apiServer struct {
	*apiserver.CustomResourceDefinitions
	openAPI  *common.OpenAPIV3Config
	builtIns *builtIns // nil without built-in kinds
}

// newAPIServer makes the API server over a running etcd. RunWithContext, or Destroy of its
// GenericAPIServer, ends everything started here; then the storages must be destroyed.
func newAPIServer(c apiConfig, made *storages) (*apiServer, error) {
	codec := apiserver.Codecs.LegacyCodec(v1beta1.SchemeGroupVersion, apiextensionsv1.SchemeGroupVersion)
	storage := storagebackend.NewDefaultConfig("/registry/"+apiextensionsv1.GroupName, codec)
	storage.Transport.ServerList = []string{c.etcdURL}
	// 0 would also mean never, but it keeps the watch caches from learning of Compact.
	storage.CompactionInterval = 24 * time.Hour
	storage.DBMetricPollInterval = 0
	etcd := genericoptions.NewEtcdOptions(storage)
	etcd.StorageConfig.CountMetricPollPeriod = 0
	etcd.EnableWatchCache = c.watchCache
	etcd.SkipHealthEndpoints = true

	generic := genericapiserver.NewRecommendedConfig(apiserver.Codecs)
	generic.FeatureGate = utilfeature.DefaultFeatureGate
	generic.EffectiveVersion = releaseVersion{compatibility.DefaultBuildEffectiveVersion()}
	generic.MergedResourceConfig = apiserver.DefaultAPIResourceConfigSource()
	generic.LoopbackClientConfig = c.loopback
	generic.ExternalAddress = c.publicAddr.String()
	generic.PublicAddress = c.publicAddr.IP
	// RunWithContext returns only if it has a listener to wait for. The real ones are elsewhere.
	generic.SecureServing = &genericapiserver.SecureServingInfo{Listener: newIdleListener(c.publicAddr), DisableHTTP2: true}
	access := &access{}
	generic.Authentication.Authenticator = access
	generic.Authorization.Authorizer = access.authorizer()
	generic.MinRequestTimeout = c.minRequestSeconds
	generic.MaxRequestsInFlight, generic.MaxMutatingRequestsInFlight = 4000, 2000
	// Upstream's default checks klog in a goroutine that never ends.
	checks := []healthz.HealthChecker{healthz.PingHealthz}
	generic.HealthzChecks, generic.ReadyzChecks, generic.LivezChecks = slices.Clone(checks), slices.Clone(checks), checks
	generic.EnableProfiling = false
	generic.EnableIndex = false

	// Both are needed to serve either: managed fields of CRDs use the definitions of v3, and
	// upstream starts no publisher unless v2 is set.
	definitions := openapi.GetOpenAPIDefinitionsWithoutDisabledFeatures(generatedopenapi.GetOpenAPIDefinitions)
	namer := openapinamer.NewDefinitionNamer(apiserver.Scheme, scheme.Scheme)
	generic.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(definitions, namer)
	generic.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(definitions, namer)
	generic.OpenAPIConfig.Info.Title = "devserver"
	generic.OpenAPIV3Config.Info.Title = "devserver"

	var kinds *builtIns
	if c.builtInKinds {
		var err error
		if kinds, err = newBuiltIns(generic, c.loopback, access, c.rbac); err != nil {
			return nil, fmt.Errorf("configure built-in kinds: %w", err)
		}
	}

	root := &discovery{}
	generic.BuildHandlerChainFunc = func(api http.Handler, conf *genericapiserver.Config) http.Handler {
		if c.builtInKinds {
			api = refuseStreams(warnOfNoControllers(api))
		}
		return genericapiserver.DefaultBuildHandlerChain(root.wrap(refuseProtobuf(api, c.builtInKinds)), conf)
	}
	if err := etcd.ApplyTo(&generic.Config); err != nil {
		return nil, fmt.Errorf("configure the API server's storage: %w", err)
	}

	conf := apiserver.Config{
		GenericConfig: generic,
		ExtraConfig: apiserver.ExtraConfig{
			CRDRESTOptionsGetter: made.track(options.NewCRDRESTOptionsGetter(*etcd, generic.ResourceTransformers, generic.StorageObjectCountTracker)),
			ServiceResolver:      noServices{},
			AuthResolverWrapper:  webhookAuth(c.loopback),
		},
	}
	api, err := conf.Complete().New(genericapiserver.NewEmptyDelegate())
	if err != nil {
		return nil, fmt.Errorf("create the API server: %w", err)
	}
	if kinds != nil {
		if err := kinds.install(api.GenericAPIServer, generic, *etcd, made); err != nil {
			return nil, fmt.Errorf("serve built-in kinds: %w", err)
		}
	}
	root.serve(api.GenericAPIServer, kinds != nil)
	return &apiServer{api, generic.OpenAPIV3Config, kinds}, nil
}

func webhookAuth(loopback *rest.Config) webhook.AuthenticationInfoResolverWrapper {
	return webhook.NewDefaultAuthenticationInfoResolverWrapper(nil, nil, loopback, noopoteltrace.NewTracerProvider())
}

// releaseVersion is served as a semantic version, as clients want to parse. The libraries set
// theirs only in a release build of Kubernetes.
type releaseVersion struct {
	basecompatibility.EffectiveVersion
}

func (v releaseVersion) Info() *version.Info {
	info := v.EffectiveVersion.Info()
	info.GitVersion = fmt.Sprintf("v%s.%s.0+devserver", info.Major, info.Minor)
	return info
}

// noServices resolves no webhook's service: there is no network of Services.
type noServices struct{}

func (noServices) ResolveEndpoint(namespace, name string, _ int32) (*url.URL, error) {
	return nil, fmt.Errorf("service %s/%s: this server doesn't reach Services; give the webhook's clientConfig a url", namespace, name)
}

type idleListener struct {
	addr   net.Addr
	closed chan struct{}
	close  func()
}

func newIdleListener(addr net.Addr) *idleListener {
	l := &idleListener{addr: addr, closed: make(chan struct{})}
	l.close = sync.OnceFunc(func() { close(l.closed) })
	return l
}

func (l *idleListener) Accept() (net.Conn, error) {
	<-l.closed
	return nil, net.ErrClosed
}

func (l *idleListener) Close() error {
	l.close()
	return nil
}

func (l *idleListener) Addr() net.Addr { return l.addr }
