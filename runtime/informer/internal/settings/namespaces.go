// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
)

var errClusterScoped = errors.New("a cluster-scoped kind has no namespaces")

// Values of scopedBy.
const (
	withNamespace         = "WithNamespace"
	withNamespaceSelector = "WithNamespaceSelector"
	withClusterScope      = "WithClusterScope"
)

// SetNamespaces implements WithNamespace.
func (s *Settings) SetNamespaces(namespaces []string) error {
	// A new slice, because several goroutines may apply the same option.
	namespaces = slices.Compact(slices.Sorted(slices.Values(namespaces)))
	switch {
	case s.ClusterScoped():
		return errClusterScoped
	case s.scopedBy == withNamespaceSelector:
		return errBeside(withNamespaceSelector)
	case len(namespaces) == 0:
		return errors.New(`no namespace; "" means all of them`)
	case len(namespaces) > 1 && namespaces[0] == "":
		return errors.New(`"" means all namespaces, so it can't be one of several`)
	}
	for _, namespace := range namespaces {
		if strings.ContainsAny(namespace, ",/ ") {
			return fmt.Errorf("%q is not a valid namespace", namespace)
		}
	}
	s.Namespaces, s.NamespaceSelector, s.scopedBy = strings.Join(namespaces, ","), "", withNamespace
	return nil
}

// SetNamespaceSelector implements WithNamespaceSelector.
func (s *Settings) SetNamespaceSelector(selector labels.Selector) error {
	switch {
	case s.ClusterScoped():
		return errClusterScoped
	case s.scopedBy == withNamespace:
		return errBeside(withNamespace)
	case IsNil(selector):
		return errors.New(`the selector is nil; WithNamespace("") reads all namespaces`)
	case selector.Empty():
		return errors.New(`the selector matches every namespace; WithNamespace("") reads all of them, with one request`)
	case selector.String() == "": // labels.Nothing
		return errors.New("the selector matches no namespace")
	}
	s.Namespaces, s.NamespaceSelector, s.scopedBy = "", selector.String(), withNamespaceSelector
	return nil
}

func errBeside(other string) error {
	return fmt.Errorf("%s was given too; give WithNamespace or WithNamespaceSelector, not both", other)
}

// SetClusterScoped implements WithClusterScope.
func (s *Settings) SetClusterScoped() error {
	switch {
	case s.ScopedByKind:
		return fmt.Errorf("WithKind sets namespaces; %w", errClusterScoped)
	case s.Namespaced():
		return fmt.Errorf("%s was given too; %w", s.scopedBy, errClusterScoped)
	}
	s.Namespaces, s.NamespaceSelector, s.scopedBy = "", "", withClusterScope
	return nil
}

// ClusterScoped reports whether this call has the option WithClusterScope.
func (s *Settings) ClusterScoped() bool { return s.scopedBy == withClusterScope }

// Namespaced reports whether this call has the option WithNamespace or WithNamespaceSelector.
func (s *Settings) Namespaced() bool {
	return s.scopedBy == withNamespace || s.scopedBy == withNamespaceSelector
}
