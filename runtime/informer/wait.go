// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"errors"
	"fmt"
	"slices"

	"github.com/informer-gen/informer-gen/runtime/reflector"
)

// WaitOption configures one call of WaitForCacheSync.
type WaitOption interface {
	// String returns the name of the function that made the option.
	String() string
	applyWait(*waitSettings) error
}

// FailOn ends WaitForCacheSync with its error as soon as an informer that has not synced fails for
// one of these reasons, in the place of waiting until that heals. Without reasons it means all that
// last until somebody does something about them (reflector.Reason.Lasting): rights or a resource
// that are missing, and objects that can't be read. An account that may list and not watch has all
// that a sync takes: that is reflector.ReasonWatchForbidden, which is not among them, and neither
// does it count as reflector.ReasonForbidden. A Retry-After changes no reason but that of a 5xx.
// The informers go on nevertheless. ReasonNone, which is no failure, is an error.
func FailOn(reasons ...reflector.Reason) WaitOption {
	return waitOption{"FailOn", func(s *waitSettings) error {
		if slices.Contains(reasons, reflector.ReasonNone) {
			return errors.New("ReasonNone is not a failure")
		}
		s.giveUp = reflector.Reason.Lasting
		if len(reasons) > 0 {
			s.giveUp = func(r reflector.Reason) bool { return slices.Contains(reasons, r) }
		}
		return nil
	}}
}

// --- private from here ---

type waitSettings struct {
	giveUp func(reflector.Reason) bool // nil: never
}

type waitOption struct {
	name  string
	apply func(*waitSettings) error
}

func (o waitOption) String() string                  { return o.name }
func (o waitOption) applyWait(s *waitSettings) error { return named(o.name, o.apply(s)) }

func applyWaitOptions(opts []WaitOption) (s waitSettings, err error) {
	var errs []error
	for i, opt := range opts {
		if opt == nil {
			errs = append(errs, fmt.Errorf("option %d is nil", i+1))
			continue
		}
		errs = append(errs, opt.applyWait(&s))
	}
	return s, errors.Join(errs...)
}
