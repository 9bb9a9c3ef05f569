// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"errors"
	"fmt"
	"strings"

	"github.com/informer-gen/informer-gen/runtime/reason"
)

// Scope is a set of calls that take an option.
type Scope uint8

// The calls that take options.
const (
	InFactory Scope = 1 << iota // factories.New
	InFor                       // factories.For
	InNew                       // informer.New
)

// String returns the names of the calls.
func (s Scope) String() string {
	var names []string
	for n, name := range []string{"factories.New", "factories.For", "informer.New"} {
		if s&(1<<n) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}

// Option implements informer.Option.
type Option struct {
	name  string
	scope Scope
	apply func(*Settings) error
}

// New returns an option with the name of the function that made it, for the calls in scope.
func New(name string, scope Scope, apply func(*Settings) error) Option {
	return Option{name, scope, apply}
}

// String returns the name of the function that made the option.
func (o Option) String() string { return o.name }

// Apply writes the option to s, or returns an error if the calls in scope do not take it.
func (o Option) Apply(s *Settings, scope Scope) error {
	if o.scope&scope == 0 {
		return fmt.Errorf("%s: not an option of %v; use it with %v", o.name, scope, o.scope)
	}
	return Named(o.name, o.apply(s))
}

// ApplyAll applies the options of one call to s, and joins their errors.
func ApplyAll[O interface{ Apply(*Settings, Scope) error }](s *Settings, scope Scope, opts []O) error {
	s.scopedBy = ""
	return Each(opts, func(o O) error { return o.Apply(s, scope) })
}

// Wait holds the options of WaitForCacheSync.
type Wait struct {
	// GiveUp reports whether a failure ends the wait; nil means no failure does.
	GiveUp func(reason.Reason) bool
}

// ApplyWait applies the options of one WaitForCacheSync.
func ApplyWait[O interface{ ApplyWait(*Wait) error }](opts []O) (w Wait, err error) {
	err = Each(opts, func(o O) error { return o.ApplyWait(&w) })
	return w, err
}

// Named returns err with the name of its option, or nil.
func Named(name string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Each joins the errors of apply for opts, and one for each nil option.
func Each[O any](opts []O, apply func(O) error) error {
	var errs []error
	for i, opt := range opts {
		if any(opt) == nil {
			errs = append(errs, fmt.Errorf("option %d is nil", i+1))
			continue
		}
		errs = append(errs, apply(opt))
	}
	return errors.Join(errs...)
}
