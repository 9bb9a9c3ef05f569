// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

type fieldIndex struct {
	index  *store.Index[object.Object, string]
	values client.IndexerFunc
}

// IndexField makes a field of obj's kind and view known to field selectors of List. values returns
// the values of the field; List finds an object by each of them. It must not change the object, and
// is called by several goroutines at once.
//
// IndexField makes the informer if there is none, and does not wait for it. It returns an error if
// the kind is unknown, or has an index of that field.
func (c *Cache) IndexField(ctx context.Context, obj client.Object, field string, values client.IndexerFunc) error {
	gvk, err := apiutil.GVKForObject(obj, c.scheme)
	if err != nil {
		return err
	}
	k, err := c.kindFor(kindKey{gvk, viewOf(obj)})
	if err != nil {
		return err
	}
	return k.addIndex(field, values)
}

// indexName is controller-runtime's name for the index of a field.
func indexName(field string) string { return "field:" + field }

func (k *kind) addIndex(field string, values client.IndexerFunc) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	old := *k.indexes.Load()
	if _, ok := old[field]; ok {
		return fmt.Errorf("%s has an index of the field %q already", k.gvk, field)
	}
	added := fieldIndex{values: values}
	added.index = store.NewIndex(indexName(field), func(obj object.Object, dst []string) []string {
		return append(dst, values(obj)...)
	})
	for _, p := range k.informerSet.all {
		if err := p.informer.AddIndexers(added.index); err != nil {
			return err
		}
	}
	indexes := maps.Clone(old)
	indexes[field] = added
	k.indexes.Store(&indexes)
	return nil
}

type query struct {
	namespace string
	labels    labels.Selector // nil: everything
	fields    []fieldValue
	limit     int // 0: none
}

type fieldValue struct {
	fieldIndex
	value string
}

func (k *kind) query(options *client.ListOptions) (query, error) {
	q := query{namespace: options.Namespace, labels: options.LabelSelector, limit: int(max(options.Limit, 0))}
	if options.FieldSelector == nil {
		return q, nil
	}
	requirements := options.FieldSelector.Requirements()
	if len(requirements) == 0 {
		return query{}, errNotExact
	}
	for _, r := range requirements {
		if r.Operator != selection.Equals && r.Operator != selection.DoubleEquals {
			return query{}, errNotExact
		}
	}
	indexes := *k.indexes.Load()
	for _, r := range requirements {
		of, ok := indexes[r.Field]
		if !ok {
			return query{}, fmt.Errorf("index with name %s does not exist", indexName(r.Field))
		}
		q.fields = append(q.fields, fieldValue{of, r.Value})
	}
	return q, nil
}

var errNotExact = errors.New("non-exact field matches are not supported by the cache")

func (q *query) full(found []object.Object) bool { return q.limit > 0 && len(found) >= q.limit }

func (q *query) appendTo(found []object.Object, s *store.Snapshot[object.Object]) []object.Object {
	if len(q.fields) == 0 && q.limit == 0 {
		all := s.List(q.namespace, q.labels)
		if found == nil {
			return all
		}
		return append(found, all...)
	}
	if len(q.fields) == 0 {
		s.Scan(q.namespace, q.labels, func(obj object.Object) bool {
			found = append(found, obj)
			return !q.full(found)
		})
		return found
	}
	first, others := q.fields[0], q.fields[1:]
	for obj := range first.index.LookupIn(s, q.namespace, first.value) {
		if q.labels != nil && !q.labels.Matches(labels.Set(obj.GetLabels())) {
			continue
		}
		if slices.ContainsFunc(others, func(f fieldValue) bool { return !slices.Contains(f.values(obj), f.value) }) {
			continue
		}
		if found = append(found, obj); q.full(found) {
			break
		}
	}
	return found
}
