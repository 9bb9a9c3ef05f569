// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	clientcache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/informer-gen/informer-gen/runtime/manager/shard"
	"github.com/informer-gen/informer-gen/runtime/source"
)

type settings struct {
	byObject map[schema.GroupVersionKind]kindSettings
	others   kindSettings // of kinds not in byObject
	onError  clientcache.WatchErrorHandlerWithContext

	ring  *shard.Ring                      // nil: informers read the objects of all buckets
	whole map[schema.GroupVersionKind]bool // kinds read without ring

	failOnMissing bool            // reads make no informers
	formats       []source.Format // to ask for; nil: the type's default
}

type kindSettings struct {
	// namespaces has the namespaces to read, AllNamespaces for all others. If it is empty, all are
	// read, with config; config also holds for a kind without namespaces.
	namespaces map[string]watchConfig
	config     watchConfig
	// follows is set if the namespaces are those of DefaultNamespaces, which may change. Later ones
	// have config.
	follows bool
}

// watchConfig is a cache.Config, without ignored settings. A nil field is not set.
type watchConfig struct {
	LabelSelector         labels.Selector
	FieldSelector         fields.Selector
	Transform             clientcache.TransformFunc
	UnsafeDisableDeepCopy *bool
	SyncPeriod            *time.Duration
}

func configOf(c cache.Config) watchConfig {
	return watchConfig{c.LabelSelector, c.FieldSelector, c.Transform, c.UnsafeDisableDeepCopy, fieldOrNil[time.Duration](c, "SyncPeriod")}
}

// fieldOrNil returns a field of a struct, or nil if this version of controller-runtime lacks it:
// client.GetOptions has UnsafeDisableDeepCopy from v0.22 on, and cache.Config and cache.ByObject
// have SyncPeriod from v0.23 on.
func fieldOrNil[T any](of any, name string) *T {
	if field := reflect.ValueOf(of).FieldByName(name); field.IsValid() {
		return field.Interface().(*T)
	}
	return nil
}

func (s *kindSettings) in(namespace string) watchConfig {
	if config, ok := s.namespaces[namespace]; ok {
		return config
	}
	return s.config
}

func (s *settings) of(gvk schema.GroupVersionKind) kindSettings {
	if one, ok := s.byObject[gvk]; ok {
		return one
	}
	return s.others
}

const defaultSyncPeriod = 10 * time.Hour

// setDefaults fills in the defaults that cache.Options documents for its first three fields.
func setDefaults(config *rest.Config, opts *cache.Options) (err error) {
	if opts.HTTPClient == nil {
		if opts.HTTPClient, err = rest.HTTPClientFor(config); err != nil {
			return fmt.Errorf("make an HTTP client from the config: %w", err)
		}
	}
	if opts.Scheme == nil {
		opts.Scheme = scheme.Scheme
	}
	if opts.Mapper == nil {
		if opts.Mapper, err = apiutil.NewDynamicRESTMapper(config, opts.HTTPClient); err != nil {
			return fmt.Errorf("make a RESTMapper from the config: %w", err)
		}
	}
	return nil
}

// newClient returns a client that sends its requests through the transport of httpClient, which has
// the credentials and certificates of config.
func newClient(config *rest.Config, httpClient *http.Client) (*source.Client, error) {
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("host %q: %w", config.Host, err)
	}
	return source.NewClient(&rest.Config{
		Host:                      base.String(),
		UserAgent:                 config.UserAgent,
		Transport:                 httpClient.Transport,
		WarningHandler:            config.WarningHandler,
		WarningHandlerWithContext: config.WarningHandlerWithContext,
	})
}

// newSettings resolves the settings of each kind. In order of precedence, a setting is taken from
// the kind's namespace, the kind, the namespace in DefaultNamespaces, or the settings for all
// objects.
func newSettings(opts *cache.Options) (settings, error) {
	defaults := watchConfig{
		LabelSelector:         opts.DefaultLabelSelector,
		FieldSelector:         opts.DefaultFieldSelector,
		Transform:             opts.DefaultTransform,
		UnsafeDisableDeepCopy: opts.DefaultUnsafeDisableDeepCopy,
		SyncPeriod:            opts.SyncPeriod,
	}
	s := settings{
		byObject: map[schema.GroupVersionKind]kindSettings{},
		others:   kindSettings{config: defaults, namespaces: map[string]watchConfig{}, follows: len(opts.DefaultNamespaces) > 0},
		onError:  opts.DefaultWatchErrorHandler,

		failOnMissing: opts.ReaderFailOnMissingInformer,
	}
	for namespace, of := range opts.DefaultNamespaces {
		s.others.namespaces[namespace] = firstOf(configOf(of), defaults)
	}
	excludeOthers(s.others.namespaces)
	for obj, of := range opts.ByObject {
		gvk, err := apiutil.GVKForObject(obj, opts.Scheme)
		if err != nil {
			return settings{}, fmt.Errorf("the kind of %T in ByObject: %w", obj, err)
		}
		namespaced, err := apiutil.IsGVKNamespaced(gvk, opts.Mapper)
		if err != nil {
			return settings{}, fmt.Errorf("whether %s in ByObject has namespaces: %w", gvk, err)
		}
		if !namespaced && of.Namespaces != nil {
			return settings{}, fmt.Errorf("%s in ByObject has no namespaces, but Namespaces is set; leave it nil", gvk)
		}
		own := watchConfig{
			LabelSelector:         of.Label,
			FieldSelector:         of.Field,
			Transform:             of.Transform,
			UnsafeDisableDeepCopy: of.UnsafeDisableDeepCopy,
			SyncPeriod:            fieldOrNil[time.Duration](of, "SyncPeriod"),
		}
		one := kindSettings{config: firstOf(own, defaults), namespaces: map[string]watchConfig{}}
		namespaces := of.Namespaces
		if namespaced && namespaces == nil {
			namespaces, one.follows = opts.DefaultNamespaces, s.others.follows
		}
		for namespace, in := range namespaces {
			one.namespaces[namespace] = firstOf(configOf(in), own, configOf(opts.DefaultNamespaces[namespace]), defaults)
		}
		excludeOthers(one.namespaces)
		s.byObject[gvk] = one
	}
	return s, nil
}

func firstOf(configs ...watchConfig) watchConfig {
	var of watchConfig
	to := reflect.ValueOf(&of).Elem()
	for _, one := range configs {
		from := reflect.ValueOf(one)
		for i := range to.NumField() {
			if to.Field(i).IsNil() {
				to.Field(i).Set(from.Field(i))
			}
		}
	}
	return of
}

// excludeOthers restricts AllNamespaces, if it is among namespaces, to those without an entry of
// their own.
func excludeOthers(namespaces map[string]watchConfig) {
	all, ok := namespaces[cache.AllNamespaces]
	if !ok {
		return
	}
	var terms []fields.Selector
	for _, namespace := range slices.Sorted(maps.Keys(namespaces)) {
		if namespace != cache.AllNamespaces {
			terms = append(terms, fields.OneTermNotEqualSelector("metadata.namespace", namespace))
		}
	}
	if all.FieldSelector != nil {
		terms = append(terms, all.FieldSelector)
	}
	all.FieldSelector = fields.AndSelectors(terms...)
	namespaces[cache.AllNamespaces] = all
}

// namespaceOf returns the only namespace that the field selector admits, or "".
func namespaceOf(config watchConfig) string {
	if config.FieldSelector == nil || config.FieldSelector.Empty() {
		return metav1.NamespaceAll
	}
	namespace, _ := config.FieldSelector.RequiresExactMatch("metadata.namespace")
	return namespace
}
