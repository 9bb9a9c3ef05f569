// SPDX-License-Identifier: Apache-2.0

package clientgo

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// Engine makes informers for ListerWatchers of clients of one rest.Config. They don't read the
// ListerWatcher, but the same objects by a source.HTTP. It may be used by any number of goroutines.
type Engine struct {
	// set once at construction
	client *source.Client
	base   string // the path of the server's URL
}

// NewEngine returns an Engine for clients made of config afterwards: it wraps the transport of
// config, and the wrapper passes on all requests except NewInformer's. It fails as source.NewClient
// does.
func NewEngine(config *rest.Config) (*Engine, error) {
	client, err := source.NewClient(config)
	if err != nil {
		return nil, fmt.Errorf("clientgo.NewEngine: %w", err)
	}
	address, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("clientgo.NewEngine: %w", err)
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return captureTransport{next} })
	return &Engine{client, strings.TrimSuffix(address.Path, "/")}, nil
}

// NewInformer is cache.NewSharedIndexInformer. It makes lw send a list, and answers that itself, to
// see what lw reads. The informer then reads the same by its own requests: objects of the type of
// example, a pointer to a struct, whose name is the kind, unless example has one.
//
// The informer reads lw instead, like NewInformer of this package, if lw is of another client, such
// as a fake, or changes its client's answers, or adds a parameter other than a selector, such as a
// limit. With verbosity 2, the reason is logged. A change is noticed only if it shows in the
// made-up object, which has a name, an annotation and managed fields; a function that drops objects
// with some label goes unnoticed. The list of another client reaches its server; NewInformer waits
// up to a minute for the answer.
func (e *Engine) NewInformer(lw cache.ListerWatcher, example runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	src, err := e.source(lw, example)
	if err != nil {
		klog.Background().V(2).Info("An informer reads its ListerWatcher", "type", describe(example), "reason", err)
		return NewInformer(lw, example, resync, indexers)
	}
	return newInformer(src, example, resync, indexers)
}

func (e *Engine) source(lw cache.ListerWatcher, example runtime.Object) (source.Source[object.Object], error) {
	of, ok := example.(object.Object)
	if !ok || reflect.ValueOf(example).Kind() != reflect.Pointer || lw == nil {
		return nil, fmt.Errorf("the ListerWatcher is %T, and the example of its objects %T, which is not a pointer to an API object", lw, example)
	}
	kind := cmp.Or(of.GetObjectKind().GroupVersionKind().Kind, reflect.TypeOf(of).Elem().Name())
	c := &capture{base: e.base, kind: kind, sent: map[string]string{"limit": "1"}}
	// With a limit and a deadline, because an uncaptured client sends this list to its server.
	ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), captureKey{}, c), patience)
	defer cancel()
	list, err := cache.ToListerWatcherWithContext(lw).ListWithContext(ctx, metav1.ListOptions{Limit: 1})
	to, wrong := c.last()
	switch {
	case wrong != nil:
		return nil, wrong
	case err == nil && !isMadeUp(list): // an error is about the made-up list
		return nil, fmt.Errorf("the ListerWatcher changes lists of %s", to.resource)
	}
	return to.source(e.client, of)
}

type captureKey struct{}

type captureTransport struct{ next http.RoundTripper }

func (c captureTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if to, ok := req.Context().Value(captureKey{}).(*capture); ok {
		return to.answer(req)
	}
	return c.next.RoundTrip(req)
}

// WrappedRoundTripper is for apimachinery, which looks for the transport below wrappers.
func (c captureTransport) WrappedRoundTripper() http.RoundTripper { return c.next }
