// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// checks collects the errors in one object. The rules and their texts are those of kube-apiserver,
// k8s.io/kubernetes/pkg/apis/*/validation; rarely broken ones are left out.
type checks struct{ errs field.ErrorList }

// validator returns a kind's validation. The function gets a nil old object for a create.
func validator[T any, P interface {
	*T
	runtime.Object
}](f func(c *checks, obj, old P)) func(obj, old runtime.Object) field.ErrorList {
	return func(obj, old runtime.Object) field.ErrorList {
		before, _ := old.(P)
		c := &checks{}
		f(c, obj.(P), before)
		return c.errs
	}
}

var specPath = field.NewPath("spec")

func (c *checks) invalid(path *field.Path, value any, why string) {
	c.errs = append(c.errs, field.Invalid(path, value, why))
}

func (c *checks) forbid(path *field.Path, why string) {
	c.errs = append(c.errs, field.Forbidden(path, why))
}

func (c *checks) missing(path *field.Path, why string) {
	c.errs = append(c.errs, field.Required(path, why))
}

func (c *checks) duplicate(path *field.Path, value any) {
	c.errs = append(c.errs, field.Duplicate(path, value))
}

func (c *checks) add(errs field.ErrorList) { c.errs = append(c.errs, errs...) }

// required reports whether a text is there.
func (c *checks) required(path *field.Path, value string) bool {
	if value == "" {
		c.missing(path, "")
	}
	return value != ""
}

// name applies one of the functions of k8s.io/apimachinery/pkg/util/validation to a text, which
// must not be empty.
func (c *checks) name(path *field.Path, value string, valid func(string) []string) {
	if c.required(path, value) {
		c.matches(path, value, valid)
	}
}

func (c *checks) matches(path *field.Path, value string, valid func(string) []string) {
	for _, why := range valid(value) {
		c.invalid(path, value, why)
	}
}

// supported checks that a value is one of a few, or empty.
func supported[T ~string](c *checks, path *field.Path, value T, allowed ...T) {
	if value != "" && !slices.Contains(allowed, value) {
		c.errs = append(c.errs, field.NotSupported(path, value, allowed))
	}
}

func nonNegative[N int32 | int64](c *checks, path *field.Path, n *N) {
	if n != nil {
		c.add(apivalidation.ValidateNonnegativeField(int64(*n), path))
	}
}

func positive[N int32 | int64](c *checks, path *field.Path, n *N) {
	if n != nil && *n <= 0 {
		c.invalid(path, int64(*n), "must be greater than 0")
	}
}

func (c *checks) port(path *field.Path, port int32) {
	for _, why := range validation.IsValidPortNum(int(port)) {
		c.invalid(path, port, why)
	}
}

func (c *checks) immutable(path *field.Path, now, old any) {
	c.add(apivalidation.ValidateImmutableField(now, old, path))
}

func (c *checks) selector(path *field.Path, s *metav1.LabelSelector) {
	if s != nil {
		c.add(metavalidation.ValidateLabelSelector(s, metavalidation.LabelSelectorValidationOptions{}, path))
	}
}

func (c *checks) nonNegativeQuantity(path *field.Path, q resource.Quantity) {
	if q.Sign() < 0 {
		c.invalid(path, q.String(), apivalidation.IsNegativeErrorMsg)
	}
}

// amount checks a number or a percentage.
func (c *checks) amount(path *field.Path, n *intstr.IntOrString) {
	switch {
	case n == nil:
	case n.Type == intstr.String:
		c.matches(path, n.StrVal, validation.IsValidPercent)
	default:
		c.add(apivalidation.ValidateNonnegativeField(int64(n.IntVal), path))
	}
}

// percentOf returns the number of a percentage, if it is one.
func percentOf(n *intstr.IntOrString) (percent int, ok bool) {
	if n == nil || n.Type != intstr.String || len(validation.IsValidPercent(n.StrVal)) > 0 {
		return 0, false
	}
	percent, err := intstr.GetScaledValueFromIntOrPercent(n, 100, true)
	return percent, err == nil
}

func isZero(n *intstr.IntOrString) bool {
	percent, ok := percentOf(n)
	return n != nil && (n.Type == intstr.Int && n.IntVal == 0 || ok && percent == 0)
}
