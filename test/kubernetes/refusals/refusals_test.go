// SPDX-License-Identifier: Apache-2.0

package refusals

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/informer-gen/informer-gen/test/kubernetes/endpoints/kubeserver"
)

func TestMain(m *testing.M) {
	kubeserver.Main()
	os.Exit(m.Run())
}

// file is a file of devserver/testdata/kinds.
type file struct {
	Resource         string
	Object, Defaults json.RawMessage
	Columns          []string
	Row              []any

	Refused, RefusedUpdates []struct {
		Patch json.RawMessage
		Want  string
	}
}

func TestKubernetesRefusesTheSame(t *testing.T) {
	config := rest.CopyConfig(kubeserver.Start(t))
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../../devserver/testdata/kinds/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("found %d files, %v", len(files), err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var f file
			if err := yaml.Unmarshal(text, &f); err != nil {
				t.Fatal(err)
			}
			f.compare(t, config, client)
		})
	}
}

// object returns the valid object with a name, changed by a patch.
func (f *file) object(t *testing.T, name string, patch json.RawMessage) *unstructured.Unstructured {
	t.Helper()
	text, err := jsonpatch.MergePatch(f.Object, []byte(`{"metadata":{"name":"`+name+`"}}`))
	if err == nil && patch != nil {
		text, err = jsonpatch.MergePatch(text, patch)
	}
	obj := &unstructured.Unstructured{}
	if err == nil {
		err = json.Unmarshal(text, &obj.Object)
	}
	if err != nil {
		t.Fatal(err)
	}
	return obj
}

func (f *file) compare(t *testing.T, config *rest.Config, client dynamic.Interface) {
	valid := f.object(t, "one", nil)
	gvr := valid.GroupVersionKind().GroupVersion().WithResource(f.Resource)
	c := client.Resource(gvr).Namespace(valid.GetNamespace())
	check := func(call string, patch json.RawMessage, err error, want string) {
		t.Helper()
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s with %s returns\n%v\nwant\n%s", call, patch, err, want)
		}
	}
	for _, bad := range f.Refused {
		_, err := c.Create(t.Context(), f.object(t, "bad", bad.Patch), metav1.CreateOptions{})
		check("Create", bad.Patch, err, bad.Want)
	}
	created, err := c.Create(t.Context(), valid, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Delete(t.Context(), "one", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	}()
	if f.Defaults != nil {
		text, err := json.Marshal(created)
		if err != nil {
			t.Fatal(err)
		}
		if merged, err := jsonpatch.MergePatch(text, f.Defaults); err != nil || !jsonpatch.Equal(merged, text) {
			t.Errorf("Create returns %s, want the defaults %s, %v", text, f.Defaults, err)
		}
	}
	for _, bad := range f.RefusedUpdates {
		_, err := c.Patch(t.Context(), "one", types.MergePatchType, bad.Patch, metav1.PatchOptions{})
		check("Patch", bad.Patch, err, bad.Want)
	}
	f.compareColumns(t, config, gvr, valid.GetNamespace())
}

func (f *file) compareColumns(t *testing.T, config *rest.Config, gvr schema.GroupVersionResource, namespace string) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	config = dynamic.ConfigFor(config)
	config.GroupVersion, config.APIPath = &schema.GroupVersion{}, "/"
	all, err := rest.RESTClientForConfigAndClient(config, client)
	if err != nil {
		t.Fatal(err)
	}
	path := []string{"apis", gvr.Group, gvr.Version, "namespaces", namespace, gvr.Resource, "one"}
	if namespace == "" {
		path = slices.Delete(path, 3, 5)
	}
	if gvr.Group == "" {
		path = append([]string{"api"}, path[2:]...)
	}
	text, err := all.Get().AbsPath(path...).SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(t.Context())
	var table metav1.Table
	if err == nil {
		err = json.Unmarshal(text, &table)
	}
	if err != nil || len(table.Rows) != 1 {
		t.Fatalf("the table is %s, %v", text, err)
	}
	var columns []string
	for _, c := range table.ColumnDefinitions {
		columns = append(columns, c.Name)
	}
	if !slices.Equal(columns, f.Columns) {
		t.Fatalf("the columns are %q, want %q", columns, f.Columns)
	}
	for i, cell := range table.Rows[0].Cells {
		if want := f.Row[i]; want != "*" && !reflect.DeepEqual(cell, want) {
			t.Errorf("%s is %#v, want %#v", columns[i], cell, want)
		}
	}
}
