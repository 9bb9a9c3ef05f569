// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"slices"
	"strings"
)

// block is a step of a program, which is a chain of blocks. A block turns the value of the block
// before it, $in, into a new value, $out; a sink adds to the program's output. In decls and code,
//
//	$K    is the name of the program, and the prefix of its types
//	$P    is a prefix that no other block has
//	$T    is the type of $in
//	$E    is the type of $in's elements, or of the value that $in points to
//	$F    is a string field of $E
//	$N    is the name of a field that embeds a $T
//	$rest is the code of all blocks behind; it follows the code if the code doesn't have it
type block struct {
	name string
	// from has the types, or groups of types, that $in may have.
	from string
	// to is the type of $out: "" is that of $in, and "none" makes a sink.
	to    string
	decls string
	code  string
	// lost marks code through which objects can't be followed, so that fields must tell an escape.
	lost bool
}

// typ is a type of values that blocks pass on.
type typ struct {
	name, text string
	groups     string
}

// types are the types of values, those of caches first. A type whose text begins with $P is
// declared by the block that makes the value.
var types = []typ{
	{"nothing", "", ""},
	{"lister", "gen.$KPodLister", "cache"},
	{"nslister", "gen.$KPodNamespaceLister", "cache getters"},
	{"getter", "$PGetter", "cache getters"},
	{"selector", "$PSelector", "cache"},
	{"getfunc", "func(string) (*api.$KPod, error)", "cache"},
	{"listfunc", "func(labels.Selector) ([]*api.$KPod, error)", "cache"},
	{"keyfunc", "func(string) (any, bool, error)", "cache"},
	{"indexer", "cache.Indexer", "cache stores"},
	{"store", "cache.Store", "cache stores"},
	{"ownstore", "$PStore", "cache stores"},
	{"shared", "cache.SharedIndexInformer", "cache informers"},
	{"ownshared", "$PShared", "cache informers"},
	{"widgets", "gen.$KWidgetLister", "cache lookups"},
	{"nswidgets", "gen.$KWidgetNamespaceLister", "cache lookups getters"},
	{"bynode", "$PByNode", "cache lookups"},
	{"snapshot", "*store.Snapshot[*api.$KPod]", "cache"},
	{"typed", "*informer.SharedIndexInformer[*api.$KPod]", "cache"},
	{"client", "client.Client", "cache clients"},
	{"reader", "client.Reader", "cache clients"},
	{"ownreader", "$PReader", "cache clients"},

	{"pod", "*api.$KPod", "data pointer"},
	{"podvalue", "api.$KPod", "data values"},
	{"pods", "[]*api.$KPod", "data list"},
	{"object", "metav1.Object", "data objects"},
	{"robject", "kruntime.Object", "data"},
	{"cobject", "client.Object", "data objects"},
	{"labeled", "$PLabeled", "data"},
	{"spec", "api.$KSpec", "data values specs"},
	{"specp", "*api.$KSpec", "data pointer specs"},
	{"status", "api.$KStatus", "data values statuses"},
	{"statusp", "*api.$KStatus", "data pointer statuses"},
	{"containers", "[]api.$KContainer", "data values list"},
	{"container", "api.$KContainer", "data values"},
	{"containerp", "*api.$KContainer", "data pointer"},
	{"conditions", "[]api.$KCondition", "data values list"},
	{"condition", "api.$KCondition", "data values comparable"},
	{"security", "*api.$KSecurity", "data pointer"},
	{"securityvalue", "api.$KSecurity", "data values comparable"},
	{"volumes", "map[string]api.$KVolume", "data values"},
	{"volume", "api.$KVolume", "data values comparable"},
	{"zones", "[2]api.$KZone", "data values comparable"},
	{"zone", "api.$KZone", "data values comparable"},
	{"labels", "map[string]string", "data values"},
	{"owners", "[]metav1.OwnerReference", "data values list"},
	{"args", "[]string", "data values"},
	{"replicas", "*int32", "data pointer"},
}

func typeOf(name string) typ {
	for _, t := range types {
		if t.name == name {
			return t
		}
	}
	panic("there is no type " + name)
}

func (t typ) in(group string) bool {
	return t.name == group || slices.Contains(strings.Fields(t.groups), group)
}

// takes reports whether $in may have a type.
func (b *block) takes(t typ) bool {
	return slices.ContainsFunc(strings.Fields(b.from), t.in)
}

// isSink reports whether the block has no $out.
func (b *block) isSink() bool { return b.to == "none" }

// isTransport reports whether $out has the type of $in.
func (b *block) isTransport() bool { return b.to == "" }

func blockNamed(name string) *block {
	for _, list := range [][]block{sources, ways, transports, sinks} {
		for i := range list {
			if list[i].name == name {
				return &list[i]
			}
		}
	}
	return nil
}
