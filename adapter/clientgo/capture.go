// SPDX-License-Identifier: Apache-2.0

package clientgo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// The URL of a list sent by client-go's code has the resource, the namespace and the selectors.
// This file answers such a list instead of the server, and reads them from it.

type collection struct {
	resource schema.GroupVersionResource
	options  source.Options
}

type capture struct {
	// set once at construction
	base string            // the path of the server's URL, without a slash at its end
	sent map[string]string // parameters of ours, or of client-go's reflector
	kind string            // of the objects; "" if the client decodes the list as the type it wants
	// protobuf: clients that prefer protobuf get it. It needs no JSON decoder, which the client
	// would prepare for all structs of the type.
	protobuf bool

	mu   sync.Mutex // guards urls
	urls []*url.URL // of the lists
}

// answer keeps the URL of a list, and returns a list of one made-up object, whose resourceVersion
// is the number of the list, from 1 on. It refuses everything else.
func (c *capture) answer(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		req.Body.Close()
	}
	if req.Method != http.MethodGet || req.URL.Query().Get("watch") != "" {
		return nil, errNoServer
	}
	var raw []byte
	var err error
	contentType := runtime.ContentTypeJSON
	if c.protobuf && strings.HasPrefix(req.Header.Get("Accept"), runtime.ContentTypeProtobuf) {
		contentType = runtime.ContentTypeProtobuf
		raw, err = inProtobuf(c.madeUp(req.URL))
	} else {
		raw, err = json.Marshal(c.madeUp(req.URL))
	}
	if err != nil {
		return nil, err
	}
	return &http.Response{
		Status: http.StatusText(http.StatusOK), StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {contentType}},
		Body:   io.NopCloser(bytes.NewReader(raw)), ContentLength: int64(len(raw)), Request: req,
	}, nil
}

// inProtobuf returns a list in Kubernetes' protobuf, where the lists of all kinds have their items'
// metadata at the same place.
func inProtobuf(list *metav1.PartialObjectMetadataList) ([]byte, error) {
	raw, err := list.Marshal()
	if err != nil {
		return nil, err
	}
	envelope, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: list.APIVersion, Kind: list.Kind}, Raw: raw}).Marshal()
	return append([]byte("k8s\x00"), envelope...), err
}

func (c *capture) RoundTrip(req *http.Request) (*http.Response, error) { return c.answer(req) }

var errNoServer = errors.New("this client only captures the requests of lists")

// madeUpMeta has parts often removed by functions that change lists.
func madeUpMeta(version string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:            "made-up-by-adapter-clientgo",
		ResourceVersion: version,
		Annotations:     map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "{}"},
		ManagedFields:   []metav1.ManagedFieldsEntry{{Manager: "made-up"}},
	}
}

func (c *capture) madeUp(of *url.URL) *metav1.PartialObjectMetadataList {
	c.mu.Lock()
	c.urls = append(c.urls, of)
	version := strconv.Itoa(len(c.urls))
	c.mu.Unlock()
	list := &metav1.PartialObjectMetadataList{
		ListMeta: metav1.ListMeta{ResourceVersion: version},
		Items:    []metav1.PartialObjectMetadata{{ObjectMeta: madeUpMeta(version)}},
	}
	if to, err := c.read(of); err == nil && c.kind != "" {
		list.APIVersion, list.Kind = to.resource.GroupVersion().String(), c.kind+"List"
	}
	return list
}

func isMadeUp(list runtime.Object) bool {
	n, same := 0, true
	err := meta.EachListItem(list, func(obj runtime.Object) error {
		o, ok := obj.(object.Object)
		n, same = n+1, same && ok && reflect.ValueOf(o).Kind() == reflect.Pointer && isMadeUpObject(o.DeepCopyObject().(object.Object))
		return nil
	})
	return err == nil && n == 1 && same
}

// isMadeUpObject reports whether o, which it may change, has only the made-up metadata. Some
// clients set the kind.
func isMadeUpObject(o object.Object) bool {
	want := madeUpMeta(o.GetResourceVersion())
	same := o.GetName() == want.Name &&
		maps.Equal(o.GetAnnotations(), want.Annotations) &&
		reflect.DeepEqual(o.GetManagedFields(), want.ManagedFields)
	empty := reflect.New(reflect.TypeOf(o).Elem()).Interface().(object.Object)
	for _, one := range []object.Object{o, empty} {
		one.SetName(want.Name)
		one.SetResourceVersion(want.ResourceVersion)
		one.SetAnnotations(nil)
		one.SetManagedFields(nil)
		one.SetCreationTimestamp(metav1.Time{}) // unstructured objects may have null
		one.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Any"})
	}
	return same && reflect.DeepEqual(o, empty)
}

var errNoList = errors.New("no list was sent by a client of this rest.Config")

// last returns the collection listed last. It returns an error if our own requests can't read it,
// or nothing was listed.
func (c *capture) last() (collection, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.urls) == 0 {
		return collection{}, errNoList
	}
	return c.read(c.urls[len(c.urls)-1])
}

// listOf returns the collection whose list was answered with a made-up object, like last.
func (c *capture) listOf(madeUp object.Object) (collection, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := strconv.Atoi(madeUp.GetResourceVersion())
	if err != nil || n < 1 || n > len(c.urls) {
		return collection{}, errNoList
	}
	return c.read(c.urls[n-1])
}

func (c *capture) read(list *url.URL) (collection, error) {
	fail := func(format string, args ...any) (collection, error) {
		return collection{}, fmt.Errorf("a list of %s can't be sent in another way: "+format, append([]any{list.RequestURI()}, args...)...)
	}
	var to collection
	for name, values := range list.Query() {
		value := values[0]
		switch {
		case len(values) == 1 && name == "labelSelector":
			to.options.LabelSelector = value
		case len(values) == 1 && name == "fieldSelector":
			to.options.FieldSelector = value
		case len(values) == 1 && name == "shardSelector":
			to.options.ShardSelector = value
		case len(values) == 1 && c.sent[name] == value:
		default:
			return fail("it sets %s to %q", name, values)
		}
	}
	path, ok := strings.CutPrefix(list.Path, c.base+"/")
	parts := strings.Split(path, "/")
	switch {
	case ok && parts[0] == "api" && len(parts) > 2:
		to.resource.Version, parts = parts[1], parts[2:]
	case ok && parts[0] == "apis" && len(parts) > 3:
		to.resource.Group, to.resource.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return fail("its path is not of an API server")
	}
	if len(parts) == 3 && parts[0] == "namespaces" {
		to.options.Namespace, parts = parts[1], parts[2:]
	}
	if len(parts) != 1 {
		return fail("its path is not of a collection")
	}
	to.resource.Resource = parts[0]
	return to, nil
}

func (to collection) source(client *source.Client, example object.Object) (source.Source[object.Object], error) {
	elem := reflect.TypeOf(example).Elem()
	to.options.NewObject = func() object.Object { return reflect.New(elem).Interface().(object.Object) }
	to.options.Kind = example.GetObjectKind().GroupVersionKind().Kind
	return source.New[object.Object](client, to.resource, to.options)
}
