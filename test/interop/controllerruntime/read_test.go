// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-gen/informer-gen/adapter/controllerruntime"
)

// view is the form of read objects.
type view string

const (
	typed        view = "typed"
	untyped      view = "unstructured"
	metadataOnly view = "metadata"
)

var views = []view{typed, untyped, metadataOnly}

// object returns an empty object of a kind.
func (v view) object(kind string) client.Object {
	gvk := corev1.SchemeGroupVersion.WithKind(kind)
	switch v {
	case untyped:
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(gvk)
		return u
	case metadataOnly:
		m := &metav1.PartialObjectMetadata{}
		m.SetGroupVersionKind(gvk)
		return m
	}
	obj, err := scheme.Scheme.New(gvk)
	if err != nil {
		panic(err)
	}
	return obj.(client.Object)
}

// list returns an empty list of a kind.
func (v view) list(kind string) client.ObjectList {
	gvk := corev1.SchemeGroupVersion.WithKind(kind + "List")
	switch v {
	case untyped:
		u := &unstructured.UnstructuredList{}
		u.SetGroupVersionKind(gvk)
		return u
	case metadataOnly:
		m := &metav1.PartialObjectMetadataList{}
		m.SetGroupVersionKind(gvk)
		return m
	}
	list, err := scheme.Scheme.New(gvk)
	if err != nil {
		panic(err)
	}
	return list.(client.ObjectList)
}

// restartPolicies is the function of an index with several Pods under a key.
func restartPolicies(obj client.Object) []string {
	switch pod := obj.(type) {
	case *corev1.Pod:
		return []string{string(pod.Spec.RestartPolicy)}
	case *unstructured.Unstructured:
		policy, _, _ := unstructured.NestedString(pod.Object, "spec", "restartPolicy")
		return []string{policy}
	}
	return []string{"unknown"}
}

// apps is the function of an index by label, which works in every view.
func apps(obj client.Object) []string {
	if app := obj.GetLabels()["app"]; app != "" {
		return []string{app, "any"}
	}
	return nil
}

// reads are the calls with compared results.
var reads = []struct {
	name string
	do   func(ctx context.Context, c cache.Cache, v view) string
}{
	{"get", get("Pod", key("two", "web-2"))},
	{"get, not there", get("Pod", key("one", "web-2"))},
	{"get, namespace not there", get("Pod", key("four", "web-2"))},
	{"get, without a namespace", get("Pod", key("", "web-2"))},
	{"get, other namespace", get("Pod", key("three", "web-2"))},
	{"get, without a copy", get("Pod", key("two", "web-2"), client.UnsafeDisableDeepCopy)},
	{"get, cluster scope", get("Node", key("", "node-1"))},
	{"get, cluster scope with a namespace", get("Node", key("one", "node-1"))},
	{"get, cluster scope, not there", get("Node", key("", "node-9"))},
	{"get, another kind", get("ConfigMap", key("one", "settings"))},
	{"list", list("Pod")},
	{"list, cluster scope", list("Node")},
	{"list, cluster scope in a namespace", list("Node", client.InNamespace("one"))},
	{"list, cluster scope by label", list("Node", client.MatchingLabels{"app": "web"})},
	{"list, by namespace", list("Pod", client.InNamespace("two"))},
	{"list, by other namespace", list("Pod", client.InNamespace("three"))},
	{"list, by namespace not there", list("Pod", client.InNamespace("four"))},
	{"list, by label", list("Pod", client.MatchingLabels{"app": "web"})},
	{"list, by label not there", list("Pod", client.MatchingLabels{"app": "none"})},
	{"list, by label and namespace", list("Pod", client.MatchingLabels{"app": "web"}, client.InNamespace("two"))},
	{"list, by labels", list("Pod", client.HasLabels{"app"})},
	{"list, without a copy", list("Pod", client.UnsafeDisableDeepCopy)},
	{"list, by index", list("Pod", client.MatchingFields{"app": "web"})},
	{"list, by index, second value", list("Pod", client.MatchingFields{"app": "any"})},
	{"list, by index, nothing", list("Pod", client.MatchingFields{"app": "none"})},
	{"list, by index and namespace", list("Pod", client.MatchingFields{"app": "web"}, client.InNamespace("two"))},
	{"list, by index and label", list("Pod", client.MatchingFields{"app": "any"}, client.MatchingLabels{"app": "db"})},
	{"list, by two indexes", list("Pod", fieldSelector("app=web,spec.restartPolicy=Never"))},
	{"list, by two indexes and namespace", list("Pod", fieldSelector("app=web,spec.restartPolicy=Never"), client.InNamespace("one"))},
	{"list, by two indexes, nothing", list("Pod", fieldSelector("app=db,spec.restartPolicy=Never"))},
	{"list, by three requirements", list("Pod", fieldSelector("app=web,app==any,spec.restartPolicy=Always"))},
	{"list, by index of cluster scope", list("Node", client.MatchingFields{"app": "db"})},
	{"list, no index", list("Pod", client.MatchingFields{"spec.nodeName": "n"})},
	{"list, field not equal", list("Pod", fieldSelector("app!=web"))},
	{"list, one field not equal", list("Pod", fieldSelector("app=web,spec.restartPolicy!=Never"))},
	{"list, all fields", list("Pod", client.MatchingFieldsSelector{Selector: fields.Everything()})},
	{"list, continued", list("Pod", client.Continue("token"))},
	{"list, limit", count("Pod", client.Limit(1))},
	{"list, limit above", count("Pod", client.Limit(100))},
	{"list, limit and label", count("Pod", client.Limit(2), client.MatchingLabels{"app": "web"})},
	{"list, limit and index", count("Pod", client.Limit(1), client.MatchingFields{"app": "web"})},
	{"list, limit and namespace", count("Pod", client.Limit(1), client.InNamespace("two"))},
	{"copies", copies},
}

func fieldSelector(s string) client.MatchingFieldsSelector {
	return client.MatchingFieldsSelector{Selector: fields.ParseSelectorOrDie(s)}
}

// kindOfObject is where a typed object has its kind. Theirs has it in copies only; docs/migrate.md
// has the difference.
var kindOfObject = regexp.MustCompile(`"kind":"(Pod|Node|ConfigMap)","apiVersion":"v1",`)

// TestReads compares the results of both caches, objects and errors, for all settings, views and
// reads.
func TestReads(t *testing.T) {
	for _, set := range settings {
		t.Run(set.name, func(t *testing.T) {
			t.Parallel()
			compareReads(t, set, controllerruntime.NewCache)
		})
	}
}

// compareReads compares the results of a cache on our informers with those of theirs.
func compareReads(t *testing.T, set setting, newOurs cache.NewCacheFunc) {
	theirs := start(t, cache.New, set.options(), indexes)
	ours := start(t, newOurs, set.options(), indexes)
	for _, v := range views {
		for _, read := range reads {
			name := string(v) + "/" + read.name
			want, got := read.do(t.Context(), theirs, v), read.do(t.Context(), ours, v)
			if v == typed && (strings.Contains(set.name, "no copies") || strings.Contains(read.name, "without a copy")) {
				got = kindOfObject.ReplaceAllString(got, "")
				want = kindOfObject.ReplaceAllString(want, "")
			}
			if want != got {
				t.Errorf("%s:\ntheirs: %s", name, difference(want, got))
			}
		}
	}
}

// difference returns the first difference between two texts.
func difference(theirs, ours string) string {
	at := 0
	for at < min(len(theirs), len(ours)) && theirs[at] == ours[at] {
		at++
	}
	from := max(0, at-60)
	return fmt.Sprintf("…%.200s\nours:   …%.200s", theirs[from:], ours[from:])
}

// indexes adds the indexes of all views. It is called before the start.
func indexes(t *testing.T, c cache.Cache) {
	t.Helper()
	for _, v := range views {
		for _, err := range []error{
			c.IndexField(t.Context(), v.object("Pod"), "spec.restartPolicy", restartPolicies),
			c.IndexField(t.Context(), v.object("Pod"), "app", apps),
			c.IndexField(t.Context(), v.object("Node"), "app", apps),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

func get(kind string, k client.ObjectKey, opts ...client.GetOption) func(context.Context, cache.Cache, view) string {
	return func(ctx context.Context, c cache.Cache, v view) string {
		obj := v.object(kind)
		err := c.Get(ctx, k, obj, opts...)
		return show(obj, err)
	}
}

func list(kind string, opts ...client.ListOption) func(context.Context, cache.Cache, view) string {
	return func(ctx context.Context, c cache.Cache, v view) string {
		list := v.list(kind)
		if err := c.List(ctx, list, opts...); err != nil {
			return show(nil, err)
		}
		items, err := meta.ExtractList(list)
		if err != nil {
			return err.Error()
		}
		var lines []string
		for _, item := range items {
			lines = append(lines, show(item, nil))
		}
		slices.Sort(lines) // the order has no meaning
		return fmt.Sprintf("rv %q, continue %q, items:\n%s", list.GetResourceVersion(), list.GetContinue(), strings.Join(lines, "\n"))
	}
}

// count is like list, but returns only the number of objects, for lists of unspecified objects.
func count(kind string, opts ...client.ListOption) func(context.Context, cache.Cache, view) string {
	return func(ctx context.Context, c cache.Cache, v view) string {
		list := v.list(kind)
		if err := c.List(ctx, list, opts...); err != nil {
			return show(nil, err)
		}
		return fmt.Sprintf("%d items, continue %q", meta.LenList(list), list.GetContinue())
	}
}

// copies shows whether two Gets, or two Lists, return the same map.
func copies(ctx context.Context, c cache.Cache, v view) string {
	var maps []uintptr
	for _, opts := range [][]client.GetOption{nil, nil, {client.UnsafeDisableDeepCopy}, {client.UnsafeDisableDeepCopy}} {
		obj := v.object("Pod")
		if err := c.Get(ctx, key("two", "web-2"), obj, opts...); err != nil {
			return show(nil, err)
		}
		maps = append(maps, labelMap(obj))
	}
	return fmt.Sprintf("the same map: %t, without copies: %t", maps[0] == maps[1], maps[2] == maps[3])
}

func labelMap(obj client.Object) uintptr {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return reflect.ValueOf(u.Object["metadata"]).Pointer()
	}
	return reflect.ValueOf(obj.GetLabels()).Pointer()
}

// show returns a result as text. For a Timeout error it shows only the kind, because the text has
// the reason in one of the caches.
func show(obj any, err error) string {
	var status apierrors.APIStatus
	switch {
	case apierrors.IsTimeout(err):
		return "timeout"
	case errors.As(err, &status):
		return fmt.Sprintf("%s: %v", status.Status().Reason, err)
	case err != nil:
		text := strings.ToLower(err.Error()) // theirs has both cases
		if at := strings.Index(text, "index with name"); at > 0 {
			text = text[at:] // without the name of an informer of adapter/clientgo
		}
		return text
	}
	text, err := json.Marshal(obj)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
