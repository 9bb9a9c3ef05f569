// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// chain is a program: a source, ways and transports, and sinks. All sinks read the same value.
type chain []*block

func (c chain) String() string {
	var names []string
	for _, b := range c {
		names = append(names, b.name)
	}
	return strings.Join(names, " | ")
}

// lost reports whether a block loses objects.
func (c chain) lost() bool { return slices.ContainsFunc(c, func(b *block) bool { return b.lost }) }

// parse returns the chain of a String.
func parse(text string) (c chain, err error) {
	for name := range strings.SplitSeq(text, " | ") {
		b := blockNamed(name)
		if b == nil {
			return nil, fmt.Errorf("there is no block %q", name)
		}
		c = append(c, b)
	}
	return c, nil
}

// chooser makes random chains, in which each block occurs about equally often.
type chooser struct {
	*rand.Rand
	used     map[*block]int
	followed bool // choose no blocks that lose objects
}

// one returns a block that takes t, the least chosen so far, or nil.
func (c *chooser) one(t typ, lists ...[]block) *block {
	var best []*block
	for _, list := range lists {
		for i := range list {
			b := &list[i]
			switch {
			case !b.takes(t), b.lost && c.followed, len(best) > 0 && c.used[b] > c.used[best[0]]:
			case len(best) > 0 && c.used[b] == c.used[best[0]]:
				best = append(best, b)
			default:
				best = []*block{b}
			}
		}
	}
	if len(best) == 0 {
		return nil
	}
	b := best[c.IntN(len(best))]
	c.used[b]++
	return b
}

func (c *chooser) chain() chain {
	t := typeOf("nothing")
	var all chain
	next := func(lists ...[]block) bool {
		b := c.one(t, lists...)
		if b == nil {
			return false
		}
		all = append(all, b)
		if !b.isTransport() && !b.isSink() {
			t = typeOf(b.to)
		}
		return true
	}
	next(sources)
	passed := 1 + c.IntN(3)
	c.followed = c.IntN(2) == 0
	for steps := 0; ; steps++ {
		switch {
		case t.in("cache") && c.IntN(16) == 0 && next(sinks):
			return all
		case passed > 0 && c.IntN(3) == 0:
			next(transports)
			passed--
		case t.in("cache") || steps < 6 && c.IntN(2) == 0:
			next(ways)
		case passed > 0:
			next(transports)
			passed--
		case !next(sinks):
			next(ways)
		default:
			if c.IntN(4) == 0 {
				next(sinks)
			}
			return all
		}
	}
}

// each returns a short chain for each of the blocks.
func each() (all []chain) {
	for _, list := range [][]block{sources, ways, transports, sinks} {
		for i := range list {
			b := &list[i]
			before, t := route(typeOf("nothing"), b.takes)
			c := append(before, b)
			if !b.isSink() {
				if !b.isTransport() {
					t = typeOf(b.to)
				}
				after, t := route(t, func(t typ) bool { return t.in("data") })
				c = append(append(c, after...), firstTaking(t, sinks))
			}
			all = append(all, c)
		}
	}
	return all
}

// route returns the shortest chain from a type to one that satisfies to.
func route(from typ, to func(typ) bool) (chain, typ) {
	type place struct {
		t   typ
		way chain
	}
	seen := map[string]bool{}
	for places := []place{{t: from}}; len(places) > 0; places = places[1:] {
		at := places[0]
		if to(at.t) {
			return slices.Clone(at.way), at.t
		}
		for _, list := range [][]block{sources, ways} {
			for i := range list {
				if b := &list[i]; b.takes(at.t) && !b.lost && !seen[b.to] {
					seen[b.to] = true
					places = append(places, place{typeOf(b.to), append(slices.Clone(at.way), b)})
				}
			}
		}
	}
	panic("no way leads on from " + from.name)
}

func firstTaking(t typ, blocks []block) *block {
	for i := range blocks {
		if blocks[i].takes(t) {
			return &blocks[i]
		}
	}
	panic("no block takes " + t.name)
}

// shorter returns the chain without some of its transports and sinks, shortest first.
func (c chain) shorter() (all []chain) {
	var at []int
	for i, b := range c {
		if b.isTransport() || b.isSink() && i > 0 {
			at = append(at, i)
		}
	}
	for without := range 1 << len(at) {
		var left chain
		for i, b := range c {
			n := slices.Index(at, i)
			if n < 0 || without&(1<<n) == 0 {
				left = append(left, b)
			}
		}
		if without > 0 && left[len(left)-1].isSink() {
			all = append(all, left)
		}
	}
	slices.SortStableFunc(all, func(a, b chain) int { return len(a) - len(b) })
	return all
}

// program returns the statements of a program's function, and its declarations.
func (c chain) program(name string) (body, decls string) {
	var declared strings.Builder
	t, in := typeOf("nothing"), ""
	body = "$rest"
	for i, b := range c {
		unique := fmt.Sprintf("%ss%d", strings.ToLower(name), i)
		to := t
		if !b.isTransport() && !b.isSink() {
			to = typeOf(b.to)
			to.text = strings.NewReplacer("$P", unique, "$K", name).Replace(to.text)
		}
		out := fmt.Sprint("v", i)
		code := strings.TrimSpace(b.code)
		if !strings.Contains(code, "$rest") {
			code += "\n$rest"
		}
		replace := strings.NewReplacer("$P", unique, "$K", name, "$T", t.text, "$E", t.element(), "$F", t.key(), "$N", t.base(),
			"$in", in, "$out", out).Replace
		fmt.Fprintln(&declared, replace(b.decls))
		body = strings.Replace(body, "$rest", replace(code), 1)
		if !b.isSink() {
			t, in = to, out
		}
	}
	return strings.Replace(body, "$rest", "", 1), declared.String()
}

// element is the type of the elements of a list, or of what a pointer points to.
func (t typ) element() string {
	if element, ok := strings.CutPrefix(t.text, "[]"); ok {
		return element
	}
	return strings.TrimPrefix(t.text, "*")
}

// key is a field of the elements of a list.
func (t typ) key() string {
	if t.name == "conditions" {
		return "Type"
	}
	return "Name"
}

// base is the name of a field that embeds a value of the type.
func (t typ) base() string { return t.text[strings.LastIndexByte(t.text, '.')+1:] }

// parameters are those that a program may have, with the harness's arguments and the part of
// kind.txtar that they need.
var parameters = []struct{ name, typ, arg, part string }{
	{"ctx", "context.Context", "context.Background()", ""},
	{"pods", "gen.$KPodLister", "gen.New$KPodLister(w.memory)", "lister"},
	{"indexer", "cache.Indexer", "w.memory", ""},
	{"shared", "cache.SharedIndexInformer", "w.memory", ""},
	{"reader", "store.Reader[*api.$KPod]", "w.store", "widgets"},
	{"typed", "*informer.SharedIndexInformer[*api.$KPod]", "w.typed", ""},
	{"cl", "client.Client", "w.client", ""},
	{"fields", "client.FieldIndexer", "w.client", ""},
	{"pi", "gen.$KPodInterface", "gen.New$KClient(w.writer)", "clientset"},
	{"wr", "*writer.Writer[*api.$KPod]", "w.writer", ""},
}

// signature returns the parameters that a body uses, their arguments, and the parts of kind.txtar
// that it needs.
func signature(body string) (params, args string, parts []string) {
	var names, values []string
	for _, p := range parameters {
		if regexp.MustCompile(`(^|[^.\w])` + p.name + `\b`).MatchString(body) {
			names, values = append(names, p.name+" "+p.typ), append(values, p.arg)
			if p.part != "" {
				parts = append(parts, p.part)
			}
		}
	}
	if strings.Contains(body, "gen.New") {
		parts = append(parts, "lister")
	}
	return strings.Join(names, ", "), strings.Join(values, ", "), parts
}

// packages are the import paths of programs by package name.
var packages = map[string]string{}

func init() {
	for path := range strings.FieldsSeq(`bufio bytes cmp container/heap container/list context encoding/gob encoding/json errors fmt hash/maphash
		io iter log/slog maps os reflect regexp runtime slices sort strconv strings sync sync/atomic text/template time unique weak
		k8s.io/apimachinery/pkg/labels k8s.io/client-go/tools/cache k8s.io/client-go/util/workqueue k8s.io/apiserver/pkg/matcher
		k8s.io/apimachinery/pkg/api/equality
		sigs.k8s.io/controller-runtime/pkg/builder sigs.k8s.io/controller-runtime/pkg/event sigs.k8s.io/controller-runtime/pkg/handler
		sigs.k8s.io/controller-runtime/pkg/predicate sigs.k8s.io/controller-runtime/pkg/reconcile
		sigs.k8s.io/controller-runtime/pkg/client sigs.k8s.io/controller-runtime/pkg/controller/controllerutil
		github.com/informer-gen/informer-gen/runtime/informer github.com/informer-gen/informer-gen/runtime/store
		github.com/informer-gen/informer-gen/runtime/object github.com/informer-gen/informer-gen/runtime/writer
		example.org/foreign example.com/m/api example.com/m/gen`) {
		packages[path[strings.LastIndexByte(path, '/')+1:]] = path
	}
	packages["kruntime"] = "k8s.io/apimachinery/pkg/runtime"
	packages["metav1"] = "k8s.io/apimachinery/pkg/apis/meta/v1"
}

var selector = regexp.MustCompile(`\b([a-z][a-z0-9]*)\.[A-Z]`)

// imports returns the import declaration that code needs.
func imports(code string) string {
	used := map[string]bool{}
	for _, match := range selector.FindAllStringSubmatch(code, -1) {
		used[match[1]] = true
	}
	var b strings.Builder
	b.WriteString("import (\n")
	for name, path := range packages {
		if used[name] {
			fmt.Fprintf(&b, "\t%s %q\n", name, path)
		}
	}
	for name := range used {
		if strings.HasPrefix(name, "programs") {
			fmt.Fprintf(&b, "\t%q\n", "example.com/m/"+name)
		}
	}
	b.WriteString(")\n")
	return b.String()
}
