// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apiserver/pkg/registry/rest"
)

// columns are the columns that kubectl get prints for a kind.
type columns struct {
	definitions []metav1.TableColumnDefinition
	cells       func(runtime.Object) []any
}

// columnsOf returns columns with one name for each cell. Names that start with a dash are shown by
// -o wide only.
func columnsOf[T any, P interface {
	*T
	runtime.Object
}](cells func(P) []any, names ...string) columns {
	c := columns{cells: func(obj runtime.Object) []any { return cells(obj.(P)) }}
	for i, cell := range cells(new(T)) {
		name, wide := strings.CutPrefix(names[i], "-")
		column := metav1.TableColumnDefinition{Name: name, Type: "string", Description: name}
		if wide {
			column.Priority = 1
		}
		switch cell.(type) {
		case int, int32, int64:
			column.Type = "integer"
		case bool:
			column.Type = "boolean"
		}
		if name == "Name" {
			column.Format = "name"
		}
		c.definitions = append(c.definitions, column)
	}
	return c
}

var _ rest.TableConvertor = columns{}

// ConvertToTable returns a row for an object, or a row for each object of a list.
func (c columns) ConvertToTable(_ context.Context, obj, options runtime.Object) (*metav1.Table, error) {
	table := &metav1.Table{}
	if o, ok := options.(*metav1.TableOptions); !ok || !o.NoHeaders {
		table.ColumnDefinitions = slices.Clone(c.definitions)
	}
	add := func(obj runtime.Object) error {
		table.Rows = append(table.Rows, metav1.TableRow{Cells: c.cells(obj), Object: runtime.RawExtension{Object: obj}})
		return nil
	}
	if list, err := meta.ListAccessor(obj); err == nil {
		table.ResourceVersion, table.Continue, table.RemainingItemCount = list.GetResourceVersion(), list.GetContinue(), list.GetRemainingItemCount()
		return table, meta.EachListItem(obj, add)
	}
	table.ResourceVersion = accessor(obj).GetResourceVersion()
	return table, add(obj)
}

func age(obj metav1.Object) string { return since(obj.GetCreationTimestamp()) }

func since(t metav1.Time) string {
	if t.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(time.Since(t.Time))
}

func createdAt(obj metav1.Object) string {
	return obj.GetCreationTimestamp().UTC().Format(time.RFC3339)
}

// orNone returns the first non-empty text, or <none>.
func orNone(texts ...string) string { return cmp.Or(append(texts, "<none>")...) }

// firstOf joins up to limit texts, and counts the others.
func firstOf(limit int, texts []string, separator string) string {
	if len(texts) <= limit {
		return strings.Join(texts, separator)
	}
	return strings.Join(texts[:limit], separator) + " + " + decimal(len(texts)-limit) + " more..."
}
