// SPDX-License-Identifier: Apache-2.0

package factories

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/settings"
)

// describe returns an informer's name: its own, or the kind's and the parts of id that differ from
// defaults, the kind's identity without options of For.
func describe(id informerKey, defaults settings.Identity, clusterScoped bool) string {
	if id.Name != defaults.Name {
		return id.Name
	}
	var b strings.Builder
	b.WriteString(cmp.Or(id.Name, resourceName(id.gvr)))
	switch namespaces := id.SplitNamespaces(); {
	case clusterScoped || id.Namespaces == defaults.Namespaces && id.NamespaceSelector == defaults.NamespaceSelector:
	case id.NamespaceSelector != "":
		fmt.Fprintf(&b, " in namespaces with labels %q", id.NamespaceSelector)
	case id.Namespaces == "":
		b.WriteString(" in all namespaces")
	case len(namespaces) == 1:
		fmt.Fprintf(&b, " in namespace %q", id.Namespaces)
	default:
		fmt.Fprintf(&b, " in namespaces %q", namespaces)
	}
	for _, part := range []struct{ kind, own, inherited string }{
		{"labels", id.LabelSelector, defaults.LabelSelector},
		{"fields", id.FieldSelector, defaults.FieldSelector},
		{"shard", id.ShardSelector, defaults.ShardSelector},
	} {
		switch part.own {
		case part.inherited:
		case "":
			fmt.Fprintf(&b, " with any %s", part.kind)
		default:
			fmt.Fprintf(&b, " with %s %q", part.kind, part.own)
		}
	}
	switch {
	case id.Ring == defaults.Ring:
	case id.Ring == nil:
		b.WriteString(" without a ring")
	default:
		b.WriteString(" in a ring")
	}
	switch {
	case id.Name != "":
	case id.goType == metadataType:
		b.WriteString(" (metadata)")
	case isProjection(id.goType):
		fmt.Fprintf(&b, " (%s)", id.goType.(reflect.Type).Elem().Name())
	case isAlternativeType(id.goType):
		b.WriteString(" (unstructured)")
	}
	return b.String()
}

// resourceName is like String of a source without restrictions, for example widgets.samples.io/v1.
func resourceName(gvr schema.GroupVersionResource) string {
	return gvr.GroupResource().String() + "/" + gvr.Version
}
