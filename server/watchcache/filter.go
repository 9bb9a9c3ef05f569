// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/informer-gen/informer-gen/internal/shard"
)

// Filter selects objects that match all its parts. The zero Filter selects all.
type Filter struct {
	Namespace string          // "": all
	Name      string          // "": all
	Labels    labels.Selector // nil: all
	// Fields selects by metadata.name, metadata.namespace and the values in [Object.Fields]; nil
	// selects all. A missing field has the value "".
	Fields fields.Selector
	// Shard selects by the hash of the uid or the namespace (KEP-5866), for instance
	//
	//	shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')
	//
	// or several ranges joined by ||. "" selects all.
	Shard string
}

const (
	fieldName      = "metadata.name"
	fieldNamespace = "metadata.namespace"
)

// filter is a compiled Filter. It is immutable.
type filter struct {
	namespace, name string
	matchesNothing  bool // because the parts contradict each other
	labels          labels.Selector
	fields          fields.Requirements
	shard           *shard.Shard // nil: all
}

// compile compiles f. Field requirements for one name or namespace become part of the scope. It
// fails if Shard is malformed.
func (f Filter) compile() (c *filter, err error) {
	c = &filter{namespace: f.Namespace, name: f.Name}
	if c.shard, err = shard.Parse(f.Shard); err != nil {
		return nil, err
	}
	if f.Labels != nil && !f.Labels.Empty() {
		c.labels = f.Labels
	}
	if f.Fields != nil {
		for _, r := range f.Fields.Requirements() {
			requiresValue := r.Operator != selection.NotEquals && r.Value != ""
			switch {
			case requiresValue && r.Field == fieldName:
				c.name = c.restrict(c.name, r.Value)
			case requiresValue && r.Field == fieldNamespace:
				c.namespace = c.restrict(c.namespace, r.Value)
			default:
				c.fields = append(c.fields, r)
			}
		}
	}
	return c, nil
}

// restrict returns value. If current is set and differs, c matches nothing.
func (c *filter) restrict(current, value string) string {
	if current != "" && current != value {
		c.matchesNothing = true
	}
	return value
}

// dependsOnContent reports whether a change of an object's content may move it into the filter or
// out of it. Namespace, name and shard don't change.
func (c *filter) dependsOnContent() bool { return c.labels != nil || len(c.fields) > 0 }

// matches reports whether the filter selects o. A nil object is never selected.
func (c *filter) matches(o *Object) bool {
	if o == nil || c.matchesNothing {
		return false
	}
	if c.namespace != "" && o.Namespace() != c.namespace || c.name != "" && o.Name() != c.name {
		return false
	}
	for i := range c.fields {
		r := &c.fields[i]
		if (o.field(r.Field) == r.Value) != (r.Operator != selection.NotEquals) {
			return false
		}
	}
	if !c.shard.Has(o.UID, o.Namespace()) {
		return false
	}
	// a pointer, because a slice would be copied to the heap
	return c.labels == nil || c.labels.Matches(&o.Labels)
}

// interest returns the filter's most selective requirement. It is the same at each call, and
// computed each time to save memory.
func (c *filter) interest() interest {
	if c.name != "" {
		return interest{attribute{byName, ""}, c.name}
	}
	for _, r := range c.fields {
		if r.Operator != selection.NotEquals && r.Value != "" && r.Field != fieldName && r.Field != fieldNamespace {
			return interest{attribute{byField, r.Field}, r.Value}
		}
	}
	if c.labels != nil {
		required, _ := c.labels.Requirements()
		for i := range required {
			switch required[i].Operator() {
			case selection.Equals, selection.DoubleEquals, selection.In:
				if values := required[i].ValuesUnsorted(); len(values) == 1 {
					return interest{attribute{byLabel, required[i].Key()}, values[0]}
				}
			}
		}
	}
	if c.namespace != "" {
		return interest{attribute{byNamespace, ""}, c.namespace}
	}
	return interest{}
}
