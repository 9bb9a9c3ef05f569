// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"math"
	"strconv"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// fewRequirements is how many requirements of a label selector are checked one after the other.
const fewRequirements = 16

// longSelector is a label selector with many requirements, which are merged by label. It looks at
// each label of an object once, however many requirements there are.
type longSelector struct {
	labels.Selector
	rules    map[string]*rule // by label
	required int              // rules of labels that an object must have
}

// rule is what a selector requires of one label.
type rule struct {
	required    bool                // the object must have the label
	refused     bool                // it must not
	allowed     map[string]struct{} // values; nil: any
	forbidden   map[string]struct{}
	above, less int64 // exclusive bounds of the value
	number      bool  // there are bounds
}

// shortened returns a selector that selects the same, in less time if s is long.
func shortened(s labels.Selector) labels.Selector {
	all, selectable := s.Requirements()
	if !selectable || len(all) <= fewRequirements {
		return s
	}
	long := &longSelector{Selector: s, rules: map[string]*rule{}}
	for i := range all {
		r := long.rules[all[i].Key()]
		if r == nil {
			r = &rule{above: math.MinInt64, less: math.MaxInt64}
			long.rules[all[i].Key()] = r
		}
		if !r.add(&all[i]) {
			return s
		}
	}
	for _, r := range long.rules {
		if r.required {
			long.required++
		}
	}
	return long
}

// add adds a requirement. It returns false if it doesn't know its operator.
func (r *rule) add(q *labels.Requirement) bool {
	values := q.ValuesUnsorted()
	switch q.Operator() {
	case selection.In, selection.Equals, selection.DoubleEquals:
		allowed := map[string]struct{}{}
		for _, value := range values {
			if _, ok := r.allowed[value]; ok || r.allowed == nil {
				allowed[value] = struct{}{}
			}
		}
		r.required, r.allowed = true, allowed
	case selection.NotIn, selection.NotEquals:
		if r.forbidden == nil {
			r.forbidden = map[string]struct{}{}
		}
		for _, value := range values {
			r.forbidden[value] = struct{}{}
		}
	case selection.Exists:
		r.required = true
	case selection.DoesNotExist:
		r.refused = true
	case selection.GreaterThan, selection.LessThan:
		if len(values) != 1 {
			return false
		}
		bound, err := strconv.ParseInt(values[0], 10, 64)
		if err != nil {
			return false
		}
		r.required, r.number = true, true
		if q.Operator() == selection.GreaterThan {
			r.above = max(r.above, bound)
		} else {
			r.less = min(r.less, bound)
		}
	default:
		return false
	}
	return true
}

// allows reports whether an object may have the label with a value.
func (r *rule) allows(value string) bool {
	if _, ok := r.forbidden[value]; ok || r.refused {
		return false
	}
	if _, ok := r.allowed[value]; !ok && r.allowed != nil {
		return false
	}
	if !r.number {
		return true
	}
	n, err := strconv.ParseInt(value, 10, 64)
	return err == nil && n > r.above && n < r.less
}

// Matches reports whether all requirements are met.
func (s *longSelector) Matches(l labels.Labels) bool {
	pairs, ok := l.(*Pairs)
	if !ok {
		return s.Selector.Matches(l)
	}
	missing := s.required
	for _, p := range *pairs {
		r := s.rules[p.Name]
		if r == nil {
			continue
		}
		if !r.allows(p.Value) {
			return false
		}
		if r.required {
			missing--
		}
	}
	return missing == 0
}
