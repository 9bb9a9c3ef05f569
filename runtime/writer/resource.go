// SPDX-License-Identifier: Apache-2.0

package writer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

const status = "status"

// resource is a Writer without its type parameter.
type resource struct {
	// Set once at construction.
	http    *source.HTTP[object.Object] // nil for a Writer not made by New
	kind    string                      // "" for objects of any kind
	options Options
}

var (
	uninitialized    = &resource{}
	errUninitialized = errors.New("the Writer was not made by New")
	errNil           = errors.New("the object is nil")
)

func (r *resource) check(call string, obj object.Object) error {
	switch {
	case r.http == nil:
		return r.fail(call, object.Key{}, errUninitialized)
	case isNil(obj):
		return r.fail(call, object.Key{}, errNil)
	}
	return nil
}

func newResource(c *source.Client, gvr schema.GroupVersionResource, t reflect.Type, opts Options) (*resource, error) {
	fail := func(err error) error {
		return fmt.Errorf("writer.New of %s/%s: %w", gvr.GroupResource(), gvr.Version, err)
	}
	newObject := opts.NewObject
	if newObject == nil {
		if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
			return nil, fail(fmt.Errorf("%v is not a pointer to a struct; set Options.NewObject", t))
		}
		elem := t.Elem()
		newObject = func() object.Object { return reflect.New(elem).Interface().(object.Object) }
	}
	if sample := newObject(); sample != nil && !reflect.TypeOf(sample).AssignableTo(t) {
		return nil, fail(fmt.Errorf("NewObject returns %T, which is not a %v", sample, t))
	}
	h, err := source.New[object.Object](c, gvr, source.Options{Kind: opts.Kind, NewObject: newObject})
	if err != nil {
		return nil, fmt.Errorf("writer.New: %w", err)
	}
	r := &resource{http: h, options: opts}
	if stamped, err := h.Codec().Stamped(newObject()); err == nil {
		r.kind = stamped.GetObjectKind().GroupVersionKind().Kind
	}
	return r, nil
}

func (r *resource) String() string {
	if r.http == nil {
		return "nothing"
	}
	text := r.http.String()
	if r.options.FieldManager != "" {
		text += fmt.Sprintf(" as %q", r.options.FieldManager)
	}
	if r.options.DryRun {
		text += " (dry run)"
	}
	return text
}

func (r *resource) send(ctx context.Context, req source.Request) (object.Object, object.Token, error) {
	if r.http == nil {
		return nil, object.Token{}, r.fail(req.Method, req.Key, errUninitialized)
	}
	obj, err := r.http.Do(ctx, req)
	if err != nil {
		return nil, object.Token{}, err
	}
	if obj == nil {
		return nil, object.Token{}, r.fail(req.Method, req.Key, errors.New("the server answered with a Status instead of the object"))
	}
	return obj, r.token(obj), nil
}

func (r *resource) write(ctx context.Context, req source.Request) (object.Object, object.Token, error) {
	obj, token, err := r.send(ctx, req)
	if err == nil {
		r.wrote(ctx, token)
	}
	return obj, token, err
}

func (r *resource) wrote(ctx context.Context, token object.Token) {
	if r.options.OnWrite != nil && !r.options.DryRun {
		r.options.OnWrite(ctx, token)
	}
}

func (r *resource) token(obj object.Object) object.Token {
	if r.options.DryRun {
		return object.Token{}
	}
	return object.TokenOf(r.http.Resource(), obj)
}

func (r *resource) query() url.Values {
	q := url.Values{}
	if r.options.FieldManager != "" {
		q.Set("fieldManager", r.options.FieldManager)
	}
	if r.options.DryRun {
		q.Set("dryRun", metav1.DryRunAll)
	}
	return q
}

func (r *resource) get(ctx context.Context, key object.Key) (object.Object, object.Token, error) {
	return r.send(ctx, source.Request{Method: http.MethodGet, Key: key})
}

func (r *resource) create(ctx context.Context, obj object.Object) (object.Object, object.Token, error) {
	if err := r.check("Create", obj); err != nil {
		return nil, object.Token{}, err
	}
	return r.write(ctx, source.Request{
		Method: http.MethodPost, Key: object.Key{Namespace: obj.GetNamespace()}, Query: r.query(), Object: obj,
	})
}

func (r *resource) update(ctx context.Context, obj object.Object, subresource string) (object.Object, object.Token, error) {
	if err := r.check("Update", obj); err != nil {
		return nil, object.Token{}, err
	}
	return r.write(ctx, r.replace(obj, subresource))
}

func (r *resource) replace(obj object.Object, subresource string) source.Request {
	return source.Request{Method: http.MethodPut, Key: object.KeyOf(obj), Subresource: subresource, Query: r.query(), Object: obj}
}

func (r *resource) patch(ctx context.Context, key object.Key, subresource string, patchType types.PatchType, data []byte) (object.Object, object.Token, error) {
	query := r.query()
	switch patchType {
	case types.ApplyPatchType:
		var err error
		if query, err = r.applyQuery(); err != nil {
			return nil, object.Token{}, r.fail("Patch", key, err)
		}
	case "":
		return nil, object.Token{}, r.fail("Patch", key, errors.New("the patch type is empty; use one of package types, such as types.MergePatchType"))
	}
	return r.write(ctx, source.Request{
		Method: http.MethodPatch, Key: key, Subresource: subresource, Query: query, Body: data, ContentType: string(patchType),
	})
}

func (r *resource) apply(ctx context.Context, obj object.Object, subresource string) (object.Object, object.Token, error) {
	if err := r.check("Apply", obj); err != nil {
		return nil, object.Token{}, err
	}
	query, err := r.applyQuery()
	if err != nil {
		return nil, object.Token{}, r.fail("Apply", object.KeyOf(obj), err)
	}
	return r.write(ctx, source.Request{
		Method: http.MethodPatch, Key: object.KeyOf(obj), Subresource: subresource, Query: query,
		Object: obj, ContentType: string(types.ApplyPatchType),
	})
}

func (r *resource) applyQuery() (url.Values, error) {
	if r.options.FieldManager == "" {
		return nil, errors.New("an apply needs a field manager; set Options.FieldManager to the controller's name")
	}
	q := r.query()
	if r.options.Force {
		q.Set("force", "true")
	}
	return q, nil
}

func (r *resource) delete(ctx context.Context, obj object.Object, opts metav1.DeleteOptions) (object.Token, error) {
	if err := r.check("Delete", obj); err != nil {
		return object.Token{}, err
	}
	key := object.KeyOf(obj)
	req, err := r.deletion(obj, opts)
	if err != nil {
		return object.Token{}, r.fail("Delete", key, err)
	}
	answer, err := r.http.Do(ctx, req)
	if err != nil || r.options.DryRun {
		return object.Token{}, err
	}
	token := r.token(obj)
	token.Gone = true
	if answer != nil && answer.GetDeletionTimestamp() != nil && answer.GetUID() == obj.GetUID() {
		token = r.token(answer) // it stays for now
	}
	r.wrote(ctx, token)
	return token, nil
}

func (r *resource) deletion(obj object.Object, opts metav1.DeleteOptions) (source.Request, error) {
	uid := obj.GetUID()
	if uid == "" || obj.GetResourceVersion() == "" {
		return source.Request{}, errors.New("the object has no UID or no resourceVersion; pass one read from the server, for example by Get")
	}
	opts.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}
	conditions := metav1.Preconditions{}
	if opts.Preconditions != nil {
		conditions = *opts.Preconditions
	}
	if conditions.UID == nil {
		conditions.UID = &uid
	}
	opts.Preconditions = &conditions
	if r.options.DryRun {
		opts.DryRun = []string{metav1.DryRunAll}
	}
	body, err := json.Marshal(&opts)
	return source.Request{Method: http.MethodDelete, Key: object.KeyOf(obj), Body: body, ContentType: "application/json"}, err
}

func isNil(obj object.Object) bool {
	v := reflect.ValueOf(obj)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}
