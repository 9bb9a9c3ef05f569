// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// setting is a named set of cache options.
type setting struct {
	name    string
	options func() cache.Options
}

// settings are the options of the compared caches.
var settings = []setting{
	{"no options", func() cache.Options { return cache.Options{} }},
	{"namespaces", func() cache.Options {
		return cache.Options{DefaultNamespaces: map[string]cache.Config{"one": {}, "two": {}}}
	}},
	{"one namespace", func() cache.Options {
		return cache.Options{DefaultNamespaces: map[string]cache.Config{"two": {}}}
	}},
	{"all namespaces, by name", func() cache.Options {
		return cache.Options{DefaultNamespaces: map[string]cache.Config{cache.AllNamespaces: {}}}
	}},
	{"a namespace with a selector, and the others", func() cache.Options {
		return cache.Options{DefaultNamespaces: map[string]cache.Config{
			"two":               {LabelSelector: label("app=db")},
			cache.AllNamespaces: {},
		}}
	}},
	{"namespaces of a kind, and the others", func() cache.Options {
		return cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {
			Namespaces: map[string]cache.Config{"one": {FieldSelector: field("metadata.name=none")}, cache.AllNamespaces: {}},
		}}}
	}},
	{"namespaces of a kind", func() cache.Options {
		return cache.Options{
			DefaultNamespaces: map[string]cache.Config{"one": {}},
			ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {
				Namespaces: map[string]cache.Config{"two": {}, "three": {LabelSelector: label("app=web")}},
			}},
		}
	}},
	{"all namespaces for a kind", func() cache.Options {
		return cache.Options{
			DefaultNamespaces: map[string]cache.Config{"one": {}},
			ByObject:          map[client.Object]cache.ByObject{&corev1.Pod{}: {Namespaces: map[string]cache.Config{}}},
		}
	}},
	{"default namespaces with a selector of the kind", func() cache.Options {
		return cache.Options{
			DefaultNamespaces: map[string]cache.Config{"one": {}, "two": {LabelSelector: label("app=web")}},
			ByObject:          map[client.Object]cache.ByObject{&corev1.Pod{}: {Label: label("app=db")}},
		}
	}},
	{"label selector of a kind", func() cache.Options {
		return cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {Label: label("app=web")}}}
	}},
	{"label selector of all", func() cache.Options {
		return cache.Options{DefaultLabelSelector: label("app=web")}
	}},
	{"label selector of all, undone for a kind", func() cache.Options {
		return cache.Options{
			DefaultLabelSelector: label("app=web"),
			ByObject:             map[client.Object]cache.ByObject{&corev1.Pod{}: {Label: labels.Everything()}},
		}
	}},
	{"label selector of a kind of cluster scope", func() cache.Options {
		return cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Node{}: {Label: label("app=web")}}}
	}},
	{"field selector of a kind", func() cache.Options {
		return cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {Field: field("metadata.name=web-2")}}}
	}},
	{"field selector of all", func() cache.Options {
		return cache.Options{DefaultFieldSelector: field("metadata.name=web-2")}
	}},
	{"field selector of a namespace", func() cache.Options {
		return cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {Field: field("metadata.namespace=two")}}}
	}},
	{"field selector of all but a namespace", func() cache.Options {
		return cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {Field: field("metadata.namespace!=two")}}}
	}},
	{"both selectors", func() cache.Options {
		return cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {Field: field("metadata.name=web-2"), Label: label("app=db")}}}
	}},
	{"no copies", func() cache.Options {
		return cache.Options{DefaultUnsafeDisableDeepCopy: ptr.To(true)}
	}},
	{"no copies of a kind", func() cache.Options {
		return cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {UnsafeDisableDeepCopy: ptr.To(true)}}}
	}},
	{"no copies, but of a kind", func() cache.Options {
		return cache.Options{
			DefaultUnsafeDisableDeepCopy: ptr.To(true),
			ByObject:                     map[client.Object]cache.ByObject{&corev1.Pod{}: {UnsafeDisableDeepCopy: ptr.To(false)}},
		}
	}},
	{"transform of all", func() cache.Options { return cache.Options{DefaultTransform: mark("all")} }},
	{"transform of a kind", func() cache.Options {
		return cache.Options{DefaultTransform: mark("all"), ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {Transform: mark("pods")}}}
	}},
	{"transform of a namespace", func() cache.Options {
		return cache.Options{
			DefaultTransform:  mark("all"),
			DefaultNamespaces: map[string]cache.Config{"one": {}, "two": {Transform: mark("two")}},
		}
	}},
	{"managed fields stripped", func() cache.Options {
		return cache.Options{DefaultTransform: cache.TransformStripManagedFields()}
	}},
	{"only what is cached", func() cache.Options { return cache.Options{ReaderFailOnMissingInformer: true} }},
}

func label(s string) labels.Selector {
	selector, err := labels.Parse(s)
	if err != nil {
		panic(err)
	}
	return selector
}

func field(s string) fields.Selector { return fields.ParseSelectorOrDie(s) }

// mark returns a transform that adds an annotation.
func mark(by string) func(any) (any, error) {
	return func(in any) (any, error) {
		obj, err := meta.Accessor(in)
		if err != nil {
			return nil, err
		}
		annotations := obj.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations["transformed"] = by
		obj.SetAnnotations(annotations)
		return in, nil
	}
}
