// SPDX-License-Identifier: Apache-2.0

package oracle

import "slices"

// sources are what programs have of caches from the beginning.
var sources = []block{
	{name: "lister", from: "nothing", to: "lister", code: `$out := pods`},
	{name: "own lister", from: "nothing", to: "lister", code: `$out := gen.New$KPodLister(indexer)`},
	{name: "indexer", from: "nothing", to: "indexer", code: `$out := indexer`},
	{name: "informer", from: "nothing", to: "shared", code: `$out := shared`},
	{name: "widgets", from: "nothing", to: "widgets", code: `$out := gen.New$KWidgetLister(reader)`},
	{name: "typed informer", from: "nothing", to: "typed", code: `$out := typed`},
	{name: "client", from: "nothing", to: "client", code: `$out := cl`},
}

// ways lead from a cache to objects, and from objects to their parts.
var ways = slices.Concat(cacheWays, clientWays, partWays)

var cacheWays = []block{
	// client-go's listers
	{name: "Get", from: "lister", to: "pod", code: `$out, _ := $in.Pods("shop").Get("blue")`},
	{name: "List", from: "lister nslister", to: "pods", code: `$out, _ := $in.List(labels.Everything())`},
	{name: "List by labels", from: "lister nslister", to: "pods", code: `$out, _ := $in.List(labels.SelectorFromSet(labels.Set{"app": "shop"}))`},
	{name: "namespace lister", from: "lister", to: "nslister", code: `$out := $in.Pods("shop")`},
	{name: "own getter", from: "nslister nswidgets", to: "getter", decls: `type $PGetter interface{ Get(string) (*api.$KPod, error) }`,
		code: `var $out $PGetter = $in`},
	{name: "getter's Get", from: "getters", to: "pod", code: `$out, _ := $in.Get("blue")`},
	{name: "getter as parameter", from: "getters", to: "pod", decls: `
func $PFetch(from interface{ Get(string) (*api.$KPod, error) }) *api.$KPod { pod, _ := from.Get("blue"); return pod }`,
		code: `$out := $PFetch($in)`},
	{name: "getter as type parameter", from: "getters", to: "pod", decls: `
func $PFetch[G interface{ Get(string) (T, error) }, T any](from G) T { v, _ := from.Get("blue"); return v }`,
		code: `$out := $PFetch($in)`},
	{name: "own selector", from: "lister nslister", to: "selector", decls: `
type $PSelector interface{ List(labels.Selector) ([]*api.$KPod, error) }`, code: `var $out $PSelector = $in`},
	{name: "selector's List", from: "selector", to: "pods", code: `$out, _ := $in.List(labels.Everything())`},

	// client-go's stores and informers
	{name: "GetByKey", from: "stores", to: "pod", code: `
$Pitem, _, _ := $in.GetByKey("shop/blue")
$out, _ := $Pitem.(*api.$KPod)`},
	{name: "items", from: "stores", to: "pod", code: `
for _, $Pitem := range $in.List() {
	$out := $Pitem.(*api.$KPod)
	$rest
}`},
	{name: "items by reflection", from: "stores", to: "pods", lost: true, code: `
var $out []*api.$KPod
for i, all := 0, reflect.ValueOf($in.List()); i < all.Len(); i++ {
	$out = append($out, all.Index(i).Interface().(*api.$KPod))
}`},
	{name: "ByIndex", from: "indexer", to: "pod", code: `
$in.AddIndexers(cache.Indexers{"node": func(obj any) ([]string, error) { return []string{obj.(*api.$KPod).Spec.NodeName}, nil }})
$Pitems, _ := $in.ByIndex("node", "node-1")
for _, $Pitem := range $Pitems {
	$out := $Pitem.(*api.$KPod)
	$rest
}`},
	{name: "lister of indexer", from: "indexer", to: "lister", code: `$out := gen.New$KPodLister($in)`},
	{name: "own store", from: "indexer store", to: "ownstore", decls: `
type $PStore interface {
	GetByKey(string) (any, bool, error)
	List() []any
}`, code: `var $out $PStore = $in`},
	{name: "informer's indexer", from: "shared", to: "indexer", code: `$out := $in.GetIndexer()`},
	{name: "informer's store", from: "shared", to: "store", code: `$out := $in.GetStore()`},
	{name: "own informer", from: "shared", to: "ownshared", decls: `
type $PShared interface{ AddEventHandler(cache.ResourceEventHandler) error }`, code: `var $out $PShared = $in`},
	{name: "handler funcs", from: "informers", to: "pod", code: `
$in.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
	$out := obj.(*api.$KPod)
	$rest
}})`},
	{name: "handler of changes", from: "informers", to: "pod", code: `
$Phandle := func(_, obj any) {
	if $out, ok := obj.(*api.$KPod); ok {
		$rest
	}
}
$in.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: $Phandle})`},
	{name: "own handler", from: "informers", to: "pod", decls: `
type $PHandler struct{ cache.ResourceEventHandlerFuncs; last *api.$KPod }

func (h *$PHandler) OnDelete(obj any) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok { obj = gone.Obj }
	if pod := obj.(*api.$KPod); pod.Name == "blue" { h.last = pod }
}`, code: `
$Phandler := &$PHandler{}
$in.AddEventHandler($Phandler)
$out := $Phandler.last`},
	{name: "filtering handler", from: "informers", to: "pod", code: `
$in.AddEventHandler(cache.FilteringResourceEventHandler{
	FilterFunc: func(obj any) bool { pod, ok := obj.(*api.$KPod); return ok && pod.Annotations["note"] == "x" },
	Handler: cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		$out := obj.(*api.$KPod)
		$rest
	}},
})`},

	// generated listers and informers of this project
	{name: "range ByNode", from: "lookups", to: "pod", code: "for $out := range $in.ByNode(\"node-1\") {\n$rest\n}"},
	{name: "ListByNode", from: "widgets nswidgets", to: "pods", code: `$out := $in.ListByNode("node-1")`},
	{name: "ByNode as method value", from: "lookups", to: "pod", code: `
$Pfind := $in.ByNode
for $out := range $Pfind("node-1") {
	$rest
}`},
	{name: "collected ByNode", from: "lookups", to: "pods", code: `$out := slices.Collect($in.ByNode("node-1"))`},
	{name: "own lookup", from: "widgets nswidgets", to: "bynode", decls: `
type $PByNode interface{ ByNode(string) iter.Seq[*api.$KPod] }`, code: `var $out $PByNode = $in`},
	{name: "range All", from: "widgets snapshot", to: "pod", code: "for $out := range $in.All() {\n$rest\n}"},
	{name: "List widgets", from: "widgets", to: "pods", code: `$out, _ := $in.List(nil)`},
	{name: "namespace's widgets", from: "widgets", to: "nswidgets", code: `$out := $in.Widgets("shop")`},
	{name: "snapshot", from: "widgets", to: "snapshot", code: `$out := $in.Snapshot()`},
	{name: "own index", from: "snapshot", to: "pods", decls: `
var $PByPhase = store.NewIndex("ByPhase", func(obj *api.$KPod, keys []string) []string { return append(keys, string(obj.Status.Phase)) })`,
		code: `$out := $PByPhase.ListIn($in, "shop", "Running")`},
	{name: "typed handler", from: "typed", to: "pod", code: `
$in.AddEventHandler(informer.HandlerFuncs[*api.$KPod]{UpdateFunc: func(_, $out *api.$KPod) {
	$rest
}})`},
	{name: "typed handler of deletes", from: "typed", to: "pod", code: `
$in.AddEventHandler(informer.HandlerFuncs[*api.$KPod]{DeleteFunc: func(deleted informer.Deleted[*api.$KPod]) {
	$out := deleted.Object
	$rest
}})`},
	{name: "typed handler's method", from: "typed", to: "pod", decls: `
type $PController struct{ seen []*api.$KPod }

func (c *$PController) add(pod *api.$KPod, _ bool) { c.seen = append(c.seen, pod) }`, code: `
$Pcontroller := &$PController{}
$in.AddEventHandler(informer.HandlerFuncs[*api.$KPod]{AddFunc: $Pcontroller.add})
$out := $Pcontroller.seen[0]`},
	{name: "typed store", from: "typed", to: "snapshot", code: `$out := $in.Store().Snapshot()`},

	{name: "Get as function", from: "getters", to: "getfunc", code: `$out := $in.Get`},
	{name: "Get as method expression", from: "nslister", to: "pod", code: `
$Pget := gen.$KPodNamespaceLister.Get
$out, _ := $Pget($in, "blue")`},
	{name: "List as function", from: "lister nslister selector", to: "listfunc", code: `$out := $in.List`},
	{name: "GetByKey as function", from: "stores", to: "keyfunc", code: `$out := $in.GetByKey`},
	{name: "getting function", from: "getfunc", to: "pod", code: `$out, _ := $in("blue")`},
	{name: "function as getter", from: "getfunc", to: "getter", decls: `
type $PGetter interface{ Get(string) (*api.$KPod, error) }

type $PFunc func(string) (*api.$KPod, error)

func (f $PFunc) Get(name string) (*api.$KPod, error) { return f(name) }`, code: `var $out $PGetter = $PFunc($in)`},
	{name: "listing function", from: "listfunc", to: "pods", code: `$out, _ := $in(labels.Everything())`},
	{name: "function of keys", from: "keyfunc", to: "pod", code: "$Pitem, _, _ := $in(\"shop/blue\")\n$out := $Pitem.(*api.$KPod)"},
	{name: "generic getter", from: "nslister nswidgets", to: "pod", decls: `
type $PSource[T any] interface{ Get(string) (T, error) }

type $PCache[T any] struct{ from $PSource[T] }

func (c *$PCache[T]) must(name string) T { v, _ := c.from.Get(name); return v }`, code: `$out := (&$PCache[*api.$KPod]{from: $in}).must("blue")`},
	{name: "adapter to runtime.Object", from: "getters", to: "robject", decls: `
type $PAdapter struct{ of $T }

func (a $PAdapter) Get(name string) (kruntime.Object, error) { return a.of.Get(name) }`, code: `
var $Pany interface{ Get(string) (kruntime.Object, error) } = $PAdapter{$in}
$out, _ := $Pany.Get("blue")`},
	{name: "own implementation", from: "getters", to: "getter", decls: `
type $PGetter interface{ Get(string) (*api.$KPod, error) }

type $PWrapper struct { inner $PGetter; last map[string]*api.$KPod }

func (w *$PWrapper) Get(name string) (*api.$KPod, error) {
	if pod, ok := w.last[name]; ok { return pod, nil }
	pod, err := w.inner.Get(name)
	w.last[name] = pod
	return pod, err
}`, code: `var $out $PGetter = &$PWrapper{$in, map[string]*api.$KPod{}}`},
	{name: "embedding getter", from: "nslister", to: "getter", decls: `
type $PGetter interface{ Get(string) (*api.$KPod, error) }

type $PEmbedding struct{ gen.$KPodNamespaceLister }`, code: `var $out $PGetter = $PEmbedding{$in}`},
	{name: "embedding lister", from: "lister", to: "nslister", decls: `
type $PBoth interface { gen.$KPodLister; more$P() int }

type $PEmbedding struct{ gen.$KPodLister }

func ($PEmbedding) more$P() int { return 1 }`, code: "var $Pboth $PBoth = &$PEmbedding{$in}\n$out := $Pboth.Pods(\"shop\")"},
	{name: "pods by namespace", from: "lister", to: "getter", decls: `
type $PGetter interface{ Get(string) (*api.$KPod, error) }

func $PIn(pods interface { Pods(string) gen.$KPodNamespaceLister }, namespace string) $PGetter { return pods.Pods(namespace) }`,
		code: `$out := $PIn($in, "shop")`},
	{name: "ListAll", from: "indexer store", to: "pod", code: `
cache.ListAll($in, labels.SelectorFromSet(labels.Set{"app": "shop"}), func(obj any) {
	$out := obj.(*api.$KPod)
	$rest
})`},
	{name: "items with a key function", from: "stores", to: "pod", decls: `
func $PNamed(items []any, name func(any) string) any { for _, item := range items { if name(item) == "blue" { return item } }; return nil }`, code: `
$out := $PNamed($in.List(), func(obj any) string { return obj.(metav1.Object).GetName() }).(*api.$KPod)`},
	{name: "changed node", from: "informers", to: "pod", code: `
$Pseen := map[string]string{}
$in.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(before, after any) {
	old, $out := before.(*api.$KPod), after.(*api.$KPod)
	if old.Spec.NodeName != $Pseen[old.Name] || old.ResourceVersion == $out.ResourceVersion {
		$Pseen[old.Name] = $out.Spec.NodeName
		$rest
	}
}})`},
}
