// SPDX-License-Identifier: Apache-2.0

package devserver_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/informer-gen/informer-gen/devserver"
)

// builtInKind is a file of testdata/kinds: a valid object of a kind, and how it is served.
type builtInKind struct {
	Resource string
	Short    string // a short name
	All      bool   // belongs to the category all
	Status   bool   // has the subresource status
	Object   map[string]any
	Defaults map[string]any // the created object has these fields
	Columns  []string
	Row      []any // "*" stands for any cell

	Refused        []refusal // creates
	RefusedUpdates []refusal
}

// refusal is a merge patch of a valid object, and a part of the error about the result.
type refusal struct {
	Patch map[string]any
	Want  string
}

// readKinds returns the built-in kinds by their names.
func readKinds(t testing.TB) map[string]*builtInKind {
	t.Helper()
	files, err := filepath.Glob("testdata/kinds/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("testdata/kinds has %d files, %v", len(files), err)
	}
	kinds := map[string]*builtInKind{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		k := &builtInKind{}
		if err := yaml.UnmarshalStrict(text, k); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		kinds[strings.TrimSuffix(filepath.Base(file), ".yaml")] = k
	}
	return kinds
}

func (k *builtInKind) gv() schema.GroupVersion {
	return schema.FromAPIVersionAndKind(k.Object["apiVersion"].(string), "").GroupVersion()
}

func (k *builtInKind) kind() string { return k.Object["kind"].(string) }

func (k *builtInKind) namespace() string {
	return (&unstructured.Unstructured{Object: k.Object}).GetNamespace()
}

// named returns the valid object with a name, changed by a merge patch.
func (k *builtInKind) named(name string, patch map[string]any) *unstructured.Unstructured {
	object := merge(k.Object, map[string]any{"metadata": map[string]any{"name": name}})
	return &unstructured.Unstructured{Object: merge(object, patch).(map[string]any)}
}

func (k *builtInKind) objects(t testing.TB, s *devserver.Server) dynamic.ResourceInterface {
	t.Helper()
	return client(t, s).Resource(k.gv().WithResource(k.Resource)).Namespace(k.namespace())
}

// merge applies a JSON merge patch to a copy of a value.
func merge(value, patch any) any {
	fields, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	merged := map[string]any{}
	if old, ok := value.(map[string]any); ok {
		for name, field := range old {
			merged[name] = merge(field, field)
		}
	}
	for name, field := range fields {
		if field == nil {
			delete(merged, name)
		} else {
			merged[name] = merge(merged[name], field)
		}
	}
	return merged
}

// contains reports whether a value has all fields of another one. Lists must be as long.
func contains(value, part any) bool {
	switch part := part.(type) {
	case map[string]any:
		fields, ok := value.(map[string]any)
		for name, field := range part {
			ok = ok && contains(fields[name], field)
		}
		return ok
	case []any:
		items, ok := value.([]any)
		ok = ok && len(items) == len(part)
		for i, item := range part {
			ok = ok && contains(items[i], item)
		}
		return ok
	}
	return reflect.DeepEqual(value, part)
}

// plain returns a value as encoding/json decodes it.
func plain(t testing.TB, value any) (same any) {
	t.Helper()
	text, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(text, &same)
	}
	if err != nil {
		t.Fatal(err)
	}
	return same
}

func TestBuiltInKindsAreServed(t *testing.T) {
	t.Parallel()
	s := withBuiltIns(t)
	for name, k := range readKinds(t) {
		t.Run(name, func(t *testing.T) {
			all, c := client(t, s).Resource(k.gv().WithResource(k.Resource)), k.objects(t, s)
			obj := k.named("one", map[string]any{"metadata": map[string]any{"labels": map[string]any{"test": name}}})
			created, err := c.Create(t.Context(), obj, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if created.GetUID() == "" || created.GetCreationTimestamp() == (metav1.Time{}) || created.GetResourceVersion() == "" ||
				created.GetNamespace() != k.namespace() || created.GroupVersionKind() != k.gv().WithKind(k.kind()) {
				t.Errorf("Create returns %v", created)
			}
			if !contains(plain(t, created.Object), plain(t, k.Defaults)) && k.Defaults != nil {
				t.Errorf("Create returns %v, want the defaults %v", created.Object, k.Defaults)
			}
			if _, err := c.Create(t.Context(), obj, metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
				t.Errorf("the second Create returns %v, want AlreadyExists", err)
			}

			w, err := c.Watch(t.Context(), metav1.ListOptions{ResourceVersion: created.GetResourceVersion(), LabelSelector: "test=" + name})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Stop()
			update := created.DeepCopy()
			update.SetAnnotations(map[string]string{"changed": "yes"})
			if _, err := c.Update(t.Context(), update, metav1.UpdateOptions{}); err != nil {
				t.Fatalf("Update returns %v", err)
			}
			if _, err := c.Update(t.Context(), update, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
				t.Errorf("Update of an old state returns %v, want Conflict", err)
			}
			wantEvent(t, w, watch.Modified, "one")
			list, err := all.List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=one", LabelSelector: "test=" + name})
			if err != nil || len(list.Items) != 1 || list.Items[0].GetAnnotations()["changed"] != "yes" {
				t.Fatalf("List returns %v, %v", list, err)
			}

			_, err = c.UpdateStatus(t.Context(), list.Items[0].DeepCopy(), metav1.UpdateOptions{})
			if k.Status != (err == nil) {
				t.Errorf("UpdateStatus returns %v, want success: %v", err, k.Status)
			}
			background := metav1.DeletePropagationBackground // a Job's default needs a collector
			if err := c.Delete(t.Context(), "one", metav1.DeleteOptions{PropagationPolicy: &background}); err != nil {
				t.Fatal(err)
			}
			for gone := false; !gone; {
				e, ok := next(t, w)
				gone = !ok || e.Type == watch.Deleted
			}
			if _, err := c.Get(t.Context(), "one", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("Get of a deleted object returns %v, want NotFound", err)
			}
			err = c.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "test=" + name})
			if k.Resource == "namespaces" != apierrors.IsMethodNotSupported(err) || err != nil && k.Resource != "namespaces" {
				t.Errorf("DeleteCollection returns %v", err)
			}
		})
	}
}

func TestBuiltInKindsRefuseBadObjects(t *testing.T) {
	t.Parallel()
	s := withBuiltIns(t)
	for name, k := range readKinds(t) {
		t.Run(name, func(t *testing.T) {
			c := k.objects(t, s)
			check := func(call string, bad refusal, err error) {
				t.Helper()
				if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), bad.Want) {
					t.Errorf("%s with %v returns\n%v\nwant\n%s", call, bad.Patch, err, bad.Want)
				}
			}
			for _, bad := range k.Refused {
				_, err := c.Create(t.Context(), k.named("bad", bad.Patch), metav1.CreateOptions{})
				check("Create", bad, err)
			}
			if len(k.RefusedUpdates) == 0 {
				return
			}
			if _, err := c.Create(t.Context(), k.named("good", nil), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			for _, bad := range k.RefusedUpdates {
				_, err := c.Patch(t.Context(), "good", types.MergePatchType, []byte(toJSON(t, bad.Patch)), metav1.PatchOptions{})
				check("Patch", bad, err)
			}
		})
	}
}

// kubectl get prints the tables that the server returns.
func TestBuiltInKindsHaveColumns(t *testing.T) {
	t.Parallel()
	s := withBuiltIns(t)
	for name, k := range readKinds(t) {
		t.Run(name, func(t *testing.T) {
			c := k.objects(t, s)
			if _, err := c.Create(t.Context(), k.named("one", nil), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			defer func() { // events of both groups are the same objects
				if err := c.Delete(t.Context(), "one", metav1.DeleteOptions{}); err != nil {
					t.Error(err)
				}
			}()
			path := s.URL() + "/apis/" + k.gv().String()
			if k.gv().Group == "" {
				path = s.URL() + "/api/v1"
			}
			if k.namespace() != "" {
				path += "/namespaces/" + k.namespace()
			}
			path += "/" + k.Resource
			for _, path := range []string{path + "/one", path + "?fieldSelector=metadata.name%3Done"} {
				var table metav1.Table
				if err := json.Unmarshal(get(t, path, "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"), &table); err != nil {
					t.Fatal(err)
				}
				var columns []string
				for _, c := range table.ColumnDefinitions {
					columns = append(columns, c.Name)
				}
				if !reflect.DeepEqual(columns, k.Columns) || len(table.Rows) != 1 {
					t.Fatalf("%s has the columns %q and %d rows, want %q and 1", path, columns, len(table.Rows), k.Columns)
				}
				want := plain(t, k.Row).([]any)
				for i, cell := range plain(t, table.Rows[0].Cells).([]any) {
					if i >= len(want) || want[i] != "*" && want[i] != cell {
						t.Errorf("%s has the row %q, want %q", path, table.Rows[0].Cells, k.Row)
						break
					}
				}
			}
		})
	}
}

func toJSON(t testing.TB, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
