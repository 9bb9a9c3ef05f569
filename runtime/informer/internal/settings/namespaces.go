// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

var errClusterScoped = errors.New("a cluster-scoped kind has no namespaces")

// Values of scopedBy.
const (
	withNamespace    = "WithNamespace"
	withClusterScope = "WithClusterScope"
)

// SetNamespaces implements WithNamespace.
func (s *Settings) SetNamespaces(namespaces []string) error {
	// A new slice, because several goroutines may apply the same option.
	namespaces = slices.Compact(slices.Sorted(slices.Values(namespaces)))
	switch {
	case s.ClusterScoped():
		return errClusterScoped
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
	s.Namespaces, s.scopedBy = strings.Join(namespaces, ","), withNamespace
	return nil
}

// SetClusterScoped implements WithClusterScope.
func (s *Settings) SetClusterScoped() error {
	switch {
	case s.ScopedByKind:
		return fmt.Errorf("WithKind sets namespaces; %w", errClusterScoped)
	case s.scopedBy == withNamespace:
		return fmt.Errorf("%s was given too; %w", s.scopedBy, errClusterScoped)
	}
	s.Namespaces, s.scopedBy = "", withClusterScope
	return nil
}

// ClusterScoped reports whether this call has the option WithClusterScope.
func (s *Settings) ClusterScoped() bool { return s.scopedBy == withClusterScope }

// Namespaced reports whether this call has the option WithNamespace.
func (s *Settings) Namespaced() bool { return s.scopedBy == withNamespace }
