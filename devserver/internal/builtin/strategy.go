// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"context"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

type strategy struct {
	runtime.ObjectTyper
	names.NameGenerator
	*kind
}

var (
	_ rest.RESTCreateStrategy              = strategy{}
	_ rest.RESTUpdateStrategy              = strategy{}
	_ rest.RESTGracefulDeleteStrategy      = strategy{}
	_ rest.GarbageCollectionDeleteStrategy = strategy{}
	_ rest.ResetFieldsStrategy             = strategy{}
)

func newStrategy(k *kind) strategy { return strategy{schemeOf(), names.SimpleNameGenerator, k} }

func (s strategy) NamespaceScoped() bool                                     { return !s.clusterScoped }
func (s strategy) AllowCreateOnUpdate(context.Context) bool                  { return s.createOnUpdate }
func (s strategy) AllowUnconditionalUpdate(context.Context) bool             { return !s.needsVersion }
func (s strategy) Canonicalize(runtime.Object)                               {}
func (s strategy) WarningsOnCreate(context.Context, runtime.Object) []string { return nil }
func (s strategy) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}

// PrepareForCreate completes a new object. It drops the status, except of kinds with
// statusOnCreate.
func (s strategy) PrepareForCreate(ctx context.Context, obj runtime.Object) {
	if status, ok := partOf(obj, "Status"); ok && !s.statusOnCreate {
		status.SetZero()
	}
	if s.countsGeneration {
		accessor(obj).SetGeneration(1)
	}
	if s.prepare != nil {
		s.prepare(ctx, obj, nil)
	}
}

// PrepareForUpdate keeps the status, and increases the generation if the content has changed.
func (s strategy) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	if status, ok := partOf(obj, "Status"); ok {
		before, _ := partOf(old, "Status")
		status.Set(before)
	}
	if s.prepare != nil {
		s.prepare(ctx, obj, old)
	}
	if s.countsGeneration && !equality.Semantic.DeepEqual(contentOf(obj), contentOf(old)) {
		accessor(obj).SetGeneration(accessor(old).GetGeneration() + 1)
	}
}

func (s strategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	valid := s.validName
	if valid == nil {
		valid = validation.NameIsDNSSubdomain
	}
	return append(
		validation.ValidateObjectMetaAccessor(accessor(obj), !s.clusterScoped, valid, field.NewPath("metadata")),
		s.ValidateUpdate(ctx, obj, nil)...,
	)
}

// ValidateUpdate leaves the metadata to the store.
func (s strategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	if s.validate == nil {
		return nil
	}
	return s.validate(obj, old)
}

// CheckGracefulDelete reports whether an object is kept for a while after its deletion.
func (s strategy) CheckGracefulDelete(_ context.Context, obj runtime.Object, options *metav1.DeleteOptions) bool {
	if s.gracePeriod == nil || options == nil {
		return false
	}
	seconds := s.gracePeriod(obj, options.GracePeriodSeconds)
	options.GracePeriodSeconds = &seconds
	return true
}

func (s strategy) DefaultGarbageCollectionPolicy(context.Context) rest.GarbageCollectionPolicy {
	if s.orphansByDefault {
		return rest.OrphanDependents
	}
	return rest.DeleteDependents
}

// GetResetFields returns the fields that a write to the object doesn't change.
func (s strategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return s.reset("status")
}

func (s strategy) reset(name string) map[fieldpath.APIVersion]*fieldpath.Set {
	set := fieldpath.NewSet(fieldpath.MakePathOrDie(name))
	fields := map[fieldpath.APIVersion]*fieldpath.Set{fieldpath.APIVersion(s.gv.String()): set}
	if !s.alias.Empty() {
		fields[fieldpath.APIVersion(s.alias.String())] = set
	}
	return fields
}

type statusStrategy struct{ strategy }

func (s statusStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	onlyChange(obj, old, "Status")
	if s.resetOnStatusWrite != nil {
		s.resetOnStatusWrite(accessor(obj), accessor(old))
	}
}

// ValidateUpdate accepts any status, and the rest is as stored.
func (s statusStrategy) ValidateUpdate(context.Context, runtime.Object, runtime.Object) field.ErrorList {
	return nil
}

func (s statusStrategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return s.reset("spec")
}

// onlyChange sets obj to old, except for one part and the metadata.
func onlyChange(obj, old runtime.Object, name string) {
	to, from := reflect.ValueOf(obj).Elem(), reflect.ValueOf(old.DeepCopyObject()).Elem()
	for n := range to.NumField() {
		switch to.Type().Field(n).Name {
		case name, "TypeMeta", "ObjectMeta":
		default:
			to.Field(n).Set(from.Field(n))
		}
	}
}

func partOf(obj runtime.Object, name string) (part reflect.Value, ok bool) {
	part = reflect.ValueOf(obj).Elem().FieldByName(name)
	return part, part.IsValid()
}

// contentOf returns the part whose changes the generation counts: the spec, or all but the
// metadata.
func contentOf(obj runtime.Object) any {
	if spec, ok := partOf(obj, "Spec"); ok {
		return spec.Interface()
	}
	obj = obj.DeepCopyObject()
	for _, name := range []string{"TypeMeta", "ObjectMeta"} {
		part, _ := partOf(obj, name)
		part.SetZero()
	}
	return obj
}

func accessor(obj runtime.Object) metav1.Object {
	m, err := meta.Accessor(obj)
	if err != nil {
		panic(err) // each built-in kind has metadata
	}
	return m
}
