// SPDX-License-Identifier: Apache-2.0

package oracle

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
var ways = []block{
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

	// controller-runtime's client
	{name: "client's Get", from: "clients", to: "pod", code: `
$out := &api.$KPod{}
$in.Get(ctx, client.ObjectKey{Name: "blue"}, $out)`},
	{name: "client's Get of a variable", from: "clients", to: "podvalue", code: `
var $out api.$KPod
$in.Get(ctx, client.ObjectKey{Name: "blue"}, &$out)`},
	{name: "client's List", from: "client reader", to: "pod", code: `
var $Plist api.$KPodList
$in.List(ctx, &$Plist)
for i := range $Plist.Items {
	$out := &$Plist.Items[i]
	$rest
}`},
	{name: "client's List by labels", from: "client reader", to: "podvalue", code: `
$Plist := &api.$KPodList{}
$in.List(ctx, $Plist, client.InNamespace("shop"), client.MatchingLabels{"app": "shop"})
for _, $out := range $Plist.Items {
	$rest
}`},
	{name: "reader", from: "client", to: "reader", code: `var $out client.Reader = $in`},
	{name: "own reader", from: "client reader", to: "ownreader", decls: `
type $PReader interface {
	Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error
}`, code: `var $out $PReader = $in`},
	{name: "client in a helper", from: "clients", to: "pod", decls: `
func $PLoad(r interface {
	Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error
}, into client.Object) { r.Get(context.Background(), client.ObjectKey{Name: "blue"}, into) }`, code: `
$out := new(api.$KPod)
$PLoad($in, $out)`},
	{name: "CreateOrUpdate", from: "client", to: "pod", lost: true, code: `
$out := &api.$KPod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "blue"}}
controllerutil.CreateOrUpdate(ctx, $in, $out, func() error {
	$out.Spec.Class = "changed"
	return nil
})`},
	{name: "inside CreateOrUpdate", from: "client", to: "pod", lost: true, code: `
$out := &api.$KPod{ObjectMeta: metav1.ObjectMeta{Name: "blue"}}
controllerutil.CreateOrUpdate(ctx, $in, $out, func() error {
	$rest
	$out.Labels = nil
	return nil
})`},

	// lists
	{name: "first", from: "pods", to: "pod", code: `$out := $in[0]`},
	{name: "each", from: "pods", to: "pod", code: "for _, $out := range $in {\n$rest\n}"},
	{name: "found", from: "pods", to: "pod", code: `
$Pat := slices.IndexFunc($in, func(p *api.$KPod) bool { return p.Name == "blue" })
$out := $in[$Pat]`},
	{name: "by name", from: "pods", to: "pod", code: `
$Pnames := map[string]*api.$KPod{}
for _, p := range $in { $Pnames[p.Name] = p }
$out := $Pnames["blue"]`},
	{name: "first of a node", from: "pods", to: "pod", code: `
$Pnodes := map[string][]*api.$KPod{}
for _, p := range $in { $Pnodes[p.Spec.NodeName] = append($Pnodes[p.Spec.NodeName], p) }
$out := $Pnodes["node-1"][0]`},
	{name: "least", from: "pods", to: "pod", code: `
$out := slices.MinFunc($in, func(a, b *api.$KPod) int { return cmp.Compare(a.Spec.Priority, b.Spec.Priority) })`},

	// parts of objects
	{name: "value", from: "pod", to: "podvalue", code: `$out := *$in`},
	{name: "pointer", from: "podvalue", to: "pod", code: `$out := &$in`},
	{name: "as metav1.Object", from: "pod", to: "object", code: `var $out metav1.Object = $in`},
	{name: ".Spec", from: "pod podvalue", to: "spec", code: `$out := $in.Spec`},
	{name: "&.Spec", from: "pod", to: "specp", code: `$out := &$in.Spec`},
	{name: ".Status", from: "pod podvalue", to: "status", code: `$out := $in.Status`},
	{name: "&.Status", from: "pod", to: "statusp", code: `$out := &$in.Status`},
	{name: ".Labels", from: "pod podvalue", to: "labels", code: `$out := $in.Labels`},
	{name: "GetLabels", from: "pod object", to: "labels", code: `$out := $in.GetLabels()`},
	{name: ".OwnerReferences", from: "pod podvalue", to: "owners", code: `$out := $in.OwnerReferences`},
	{name: "GetOwnerReferences", from: "object", to: "owners", code: `$out := $in.GetOwnerReferences()`},
	{name: ".Containers", from: "specs", to: "containers", code: `$out := $in.Containers`},
	{name: ".Security", from: "specs", to: "security", code: `$out := $in.Security`},
	{name: ".Volumes", from: "specs", to: "volumes", code: `$out := $in.Volumes`},
	{name: ".Zones", from: "specs", to: "zones", code: `$out := $in.Zones`},
	{name: ".Args", from: "specs", to: "args", code: `$out := $in.Args`},
	{name: ".Replicas", from: "specs", to: "replicas", code: `$out := $in.Replicas`},
	{name: ".Conditions", from: "statuses", to: "conditions", code: `$out := $in.Conditions`},
	{name: "&Containers[i]", from: "containers", to: "containerp", code: "for i := range $in {\n$out := &$in[i]\n$rest\n}"},
	{name: "range Containers", from: "containers", to: "container", code: "for _, $out := range $in {\n$rest\n}"},
	{name: "last container", from: "containers", to: "container", code: `$out := $in[len($in)-1]`},
	{name: "range Conditions", from: "conditions", to: "condition", code: "for _, $out := range $in {\n$rest\n}"},
	{name: "*Security", from: "security", to: "securityvalue", code: `$out := *$in`},
	{name: "Volumes['data']", from: "volumes", to: "volume", code: `$out := $in["data"]`},
	{name: "Volumes by key", from: "volumes", to: "volume", code: `
for _, key := range slices.Sorted(maps.Keys($in)) {
	$out := $in[key]
	$rest
}`},
	{name: "Zones[1]", from: "zones", to: "zone", code: `$out := $in[1]`},
	{name: "range Zones", from: "zones", to: "zone", code: "for _, $out := range $in {\n$rest\n}"},
}
