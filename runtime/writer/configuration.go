// SPDX-License-Identifier: Apache-2.0

package writer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// ApplyConfiguration is a pointer to an apply configuration of a kind: one that informer-gen has
// generated, or one of client-go. Its JSON has the set fields only, with the apiVersion, the kind
// and the name.
type ApplyConfiguration interface {
	// GetName returns the object's name, or nil if it isn't set.
	GetName() *string
}

// ApplyConfiguration is [Writer.Apply] with an apply configuration, whose set fields are sent, zero
// values included. It isn't changed. It must be of the Writer's kind and version.
func (w *Writer[T]) ApplyConfiguration(ctx context.Context, config ApplyConfiguration) (T, object.Token, error) {
	return typed[T](w.resource().applyConfiguration(ctx, "ApplyConfiguration", config, ""))
}

// ApplyStatusConfiguration is [Writer.ApplyStatus] with an apply configuration.
func (w *Writer[T]) ApplyStatusConfiguration(ctx context.Context, config ApplyConfiguration) (T, object.Token, error) {
	return typed[T](w.resource().applyConfiguration(ctx, "ApplyStatusConfiguration", config, status))
}

func (r *resource) applyConfiguration(ctx context.Context, call string, config ApplyConfiguration, subresource string) (object.Object, object.Token, error) {
	fail := func(key object.Key, err error) (object.Object, object.Token, error) {
		return nil, object.Token{}, r.fail(call, key, err)
	}
	if r.http == nil {
		return fail(object.Key{}, errUninitialized)
	}
	if v := reflect.ValueOf(config); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return fail(object.Key{}, errors.New("the apply configuration is nil"))
	}
	body, err := json.Marshal(config)
	if err != nil {
		return fail(object.Key{}, err)
	}
	var head metav1.PartialObjectMetadata
	if err := json.Unmarshal(body, &head); err != nil {
		return fail(object.Key{}, fmt.Errorf("reading the metadata of a %T: %w", config, err))
	}
	key := object.KeyOf(&head)
	if err := r.checkKind(head.TypeMeta); err != nil {
		return fail(key, err)
	}
	query, err := r.applyQuery()
	if err != nil {
		return fail(key, err)
	}
	return r.write(ctx, source.Request{
		Method: http.MethodPatch, Key: key, Subresource: subresource, Query: query, Body: body, ContentType: string(types.ApplyPatchType),
	})
}

// checkKind checks the version and kind of an apply configuration.
func (r *resource) checkKind(got metav1.TypeMeta) error {
	want := metav1.TypeMeta{APIVersion: r.http.Resource().GroupVersion().String(), Kind: r.kind}
	if want.Kind == "" { // objects of any kind
		want.Kind = got.Kind
	}
	switch {
	case got.APIVersion == "" || got.Kind == "":
		return errors.New("the apply configuration has no apiVersion or no kind; make it by the function named like its kind")
	case got != want:
		return fmt.Errorf("the apply configuration is of %s %s, not %s %s", got.APIVersion, got.Kind, want.APIVersion, want.Kind)
	}
	return nil
}
