// SPDX-License-Identifier: Apache-2.0

package access

import (
	"cmp"
	"context"
	"slices"

	"github.com/informer-gen/informer-gen/cmd/informer-relay/internal/configfile"
	"github.com/informer-gen/informer-gen/server/serve"
)

type callers []configfile.Caller

// decide compares a caller's names with the entries. Everyone with an entry may use discovery.
func (cs callers) decide(_ context.Context, c credentials, a serve.Attributes) error {
	names := c.uris
	if c.user.Username != "" {
		names = append(slices.Clip(names), c.user.Username)
	}
	if len(names) == 0 {
		return unauthorized()
	}
	for _, caller := range cs {
		if slices.ContainsFunc(names, func(name string) bool { return slices.Contains(caller.Names, name) }) && allows(caller, a) {
			return nil
		}
	}
	return forbidden(cmp.Or(c.user.Username, names[0]), a, "")
}

func allows(c configfile.Caller, a serve.Attributes) bool {
	switch a.Path {
	case "":
	case MetricsPath:
		return c.Metrics
	default: // discovery
		return true
	}
	read := a.Verb == "get" || a.Verb == "list" || a.Verb == "watch"
	return read && a.Subresource == "" &&
		(slices.Contains(c.Resources, "*") || slices.Contains(c.Resources, a.Resource.GroupResource().String())) &&
		emptyOrContains(c.Verbs, a.Verb) && emptyOrContains(c.Namespaces, a.Namespace) && emptyOrContains(c.ResourceNames, a.Name)
}

func emptyOrContains(list []string, value string) bool {
	return len(list) == 0 || slices.Contains(list, value)
}
