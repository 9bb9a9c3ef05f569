// SPDX-License-Identifier: Apache-2.0

package watchcache

// attribute is a kind of key for finding watchers. All objects share the zero attribute.
type attribute struct {
	kind attributeKind
	name string // of the field or label
}

type attributeKind uint8

const (
	byNothing attributeKind = iota
	byNamespace
	byName
	byField
	byLabel
)

// interest is the attribute value an object must have to concern a watcher.
type interest struct {
	attribute
	value string
}

// interests finds the watchers a change may concern. Each watcher is in one bucket. So a change
// costs one look-up for each watched attribute of its object, plus the watchers in the matching
// buckets.
type interests map[attribute]map[string]*bucket

type bucket struct{ watchers []*Watcher }

func (in interests) add(w *Watcher) {
	i := w.filter.interest()
	byValue := in[i.attribute]
	if byValue == nil {
		byValue = map[string]*bucket{}
		in[i.attribute] = byValue
	}
	b := byValue[i.value]
	if b == nil {
		b = &bucket{}
		byValue[i.value] = b
	}
	w.bucketIndex = len(b.watchers)
	b.watchers = append(b.watchers, w)
}

func (in interests) remove(w *Watcher) {
	i := w.filter.interest()
	b := in[i.attribute][i.value]
	last := len(b.watchers) - 1
	moved := b.watchers[last]
	b.watchers[w.bucketIndex], moved.bucketIndex = moved, w.bucketIndex
	b.watchers[last] = nil
	b.watchers = b.watchers[:last]
	if last > 0 {
		return
	}
	if delete(in[i.attribute], i.value); len(in[i.attribute]) == 0 {
		delete(in, i.attribute)
	}
}

func (in interests) watchers() (all []*Watcher) {
	for _, byValue := range in {
		for _, b := range byValue {
			all = append(all, b.watchers...)
		}
	}
	return all
}

// each calls hit, at least once, with every watcher that a change of an object may concern. Either
// object may be nil.
func (in interests) each(before, after *Object, visit func(*Watcher)) {
	in.visitBucket(interest{}, visit)
	obj := after
	if obj == nil {
		obj = before
	}
	// namespace and name are the same before and after
	if byValue := in[attribute{kind: byNamespace}]; byValue != nil {
		byValue[obj.Namespace()].each(visit)
	}
	if byValue := in[attribute{kind: byName}]; byValue != nil {
		byValue[obj.Name()].each(visit)
	}
	for _, o := range [...]*Object{before, after} {
		if o == nil {
			continue
		}
		for _, p := range o.Fields {
			in.visitBucket(interest{attribute{byField, p.Name}, p.Value}, visit)
		}
		for _, p := range o.Labels {
			in.visitBucket(interest{attribute{byLabel, p.Name}, p.Value}, visit)
		}
	}
}

func (in interests) visitBucket(i interest, visit func(*Watcher)) {
	if byValue := in[i.attribute]; byValue != nil {
		byValue[i.value].each(visit)
	}
}

func (b *bucket) each(visit func(*Watcher)) {
	if b == nil {
		return
	}
	for _, w := range b.watchers {
		visit(w)
	}
}
