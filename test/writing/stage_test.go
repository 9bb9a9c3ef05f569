// SPDX-License-Identifier: Apache-2.0

package writing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/writer"
)

// Boat is a kind of a CRD with a status subresource.
type Boat struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BoatSpec   `json:"spec,omitempty"`
	Status BoatStatus `json:"status,omitempty"`
}

// BoatSpec has a default berth, at most nine hands, and named parts.
type BoatSpec struct {
	Berth string `json:"berth,omitempty"`
	Hands *int32 `json:"hands,omitempty"`
	Parts []Part `json:"parts,omitempty"`
}

// Part is an item of a list that is merged by name.
type Part struct {
	Name  string `json:"name"`
	Count int32  `json:"count,omitempty"`
}

// BoatStatus is written through the subresource.
type BoatStatus struct {
	Trips int32 `json:"trips,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (b *Boat) DeepCopyObject() runtime.Object {
	text, err := json.Marshal(b)
	if err != nil {
		panic(err)
	}
	clone := &Boat{}
	if err := json.Unmarshal(text, clone); err != nil {
		panic(err)
	}
	return clone
}

// crd is the CRD of Boats in YAML.
const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boats.writing.example.com}
spec:
  group: writing.example.com
  names: {kind: Boat, plural: boats}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            default: {}
            properties:
              berth: {type: string, default: quay, maxLength: 20}
              hands: {type: integer, maximum: 9}
              parts:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties: {name: {type: string}, count: {type: integer}}
          status:
            type: object
            properties: {trips: {type: integer}}
`

var (
	boats      = schema.GroupVersionResource{Group: "writing.example.com", Version: "v1", Resource: "boats"}
	maps       = corev1.SchemeGroupVersion.WithResource("configmaps")
	pods       = corev1.SchemeGroupVersion.WithResource("pods")
	namespaces = corev1.SchemeGroupVersion.WithResource("namespaces")
	leases     = schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
	jobs       = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
)

// patience bounds a wait on a busy machine.
const patience = 2 * time.Minute

// stage is a test with a namespace of its own.
type stage struct {
	*testing.T
	ctx    context.Context
	client *source.Client
	ns     string
}

func newStage(t *testing.T, config *rest.Config) *stage {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	client, err := source.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{T: t, ctx: ctx, client: client, ns: fmt.Sprintf("writing-%x", rand.Uint64())}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.ns}}
	s.ok(errorOf(newWriter[*corev1.Namespace](s, namespaces, writer.Options{}).Create(ctx, ns)))
	return s
}

// newWriter makes a writer of a resource.
func newWriter[T object.Object](s *stage, gvr schema.GroupVersionResource, opts writer.Options) *writer.Writer[T] {
	s.Helper()
	w, err := writer.New[T](s.client, gvr, opts)
	if err != nil {
		s.Fatal(err)
	}
	return w
}

func (s *stage) boats(opts writer.Options) *writer.Writer[*Boat] {
	return newWriter[*Boat](s, boats, opts)
}
func (s *stage) maps(opts writer.Options) *writer.Writer[*corev1.ConfigMap] {
	return newWriter[*corev1.ConfigMap](s, maps, opts)
}

// meta returns the metadata of a new object.
func (s *stage) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: s.ns, Name: name}
}

func (s *stage) boat(name string, change ...func(*Boat)) *Boat {
	b := &Boat{ObjectMeta: s.meta(name)}
	for _, f := range change {
		f(b)
	}
	return b
}

func (s *stage) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// errorOf returns only the error of a write.
func errorOf[T object.Object](_ T, _ object.Token, err error) error { return err }

// mustWrite returns a function for the results of a write, which must succeed. It returns the
// object.
func mustWrite[T object.Object](s *stage) func(T, object.Token, error) T {
	return func(obj T, _ object.Token, err error) T {
		s.Helper()
		s.ok(err)
		return obj
	}
}

// mustFail returns a function for the results of a write, which must fail with an error accepted by
// is, and return nothing else.
func mustFail[T object.Object](s *stage, what string, is func(error) bool) func(T, object.Token, error) {
	return func(obj T, token object.Token, err error) {
		s.Helper()
		var zero T
		if !is(err) || object.Object(obj) != object.Object(zero) || token != (object.Token{}) {
			s.Errorf("%s: got %v, %+v and the wrong error %v", what, obj, token, err)
		}
	}
}

// cache runs an informer of the namespace's objects until the test ends.
func cache[T object.Object](s *stage, gvr schema.GroupVersionResource) *informer.SharedIndexInformer[T] {
	s.Helper()
	f := factories.New(s.client, informer.WithNamespace(s.ns))
	i := factories.For[T](f, gvr)
	s.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := f.Shutdown(ctx); err != nil {
			s.Error(err)
		}
	})
	s.ok(f.Start(s.Context()))
	s.ok(f.WaitForCacheSync(s.ctx))
	return i
}

// awaitToken waits for a token, and then checks that the cache is not behind it.
func awaitToken[T object.Object](s *stage, c *informer.SharedIndexInformer[T], token object.Token) error {
	if token == (object.Token{}) {
		return errors.New("the token is zero")
	}
	if err := c.AwaitToken(s.ctx, token); err != nil {
		return fmt.Errorf("AwaitToken(%+v): %w", token, err)
	}
	cached, there := c.Store().Snapshot().Get(token.Key)
	switch {
	case token.Gone && there && cached.GetUID() == token.UID:
		return fmt.Errorf("after AwaitToken(%+v) the cache has the deleted object at version %s", token, cached.GetResourceVersion())
	case !token.Gone && there && cached.GetUID() == token.UID && version(cached.GetResourceVersion()) < version(token.ResourceVersion):
		return fmt.Errorf("after AwaitToken(%+v) the cache is at version %s", token, cached.GetResourceVersion())
	}
	return nil
}

func version(text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}
