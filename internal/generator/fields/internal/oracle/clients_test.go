// SPDX-License-Identifier: Apache-2.0

package oracle

// clientWays begin at controller-runtime's client.
var clientWays = []block{
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

	{name: "client's generic Get", from: "clients", to: "pod", decls: `
type $PObject[T any] interface { *T; client.Object }

func $PLoad[T any, P $PObject[T]](r $T, name string) P {
	obj := P(new(T))
	r.Get(context.Background(), client.ObjectKey{Name: name}, obj)
	return obj
}`, code: `$out := $PLoad[api.$KPod]($in, "blue")`},
	{name: "client's Get of what a function makes", from: "clients", to: "cobject", decls: `
var $PNew = map[string]func() client.Object{"pod": func() client.Object { return &api.$KPod{} }}`, code: `
$out := $PNew["pod"]()
$in.Get(ctx, client.ObjectKey{Name: "blue"}, $out)`},
	{name: "client's Get into a struct", from: "clients", to: "pod", decls: `
type $PState struct{ pod api.$KPod; err error }

func (s *$PState) load(r $T) { s.err = r.Get(context.Background(), client.ObjectKey{Name: "blue"}, &s.pod) }`, code: `
var $Pstate $PState
$Pstate.load($in)
$out := &$Pstate.pod`},
	{name: "struct that embeds a client", from: "client", to: "pod", decls: `
type $PReconciler struct{ client.Client; name string }

func (r *$PReconciler) pod(ctx context.Context) *api.$KPod {
	var pod api.$KPod
	if err := r.Get(ctx, client.ObjectKey{Name: r.name}, &pod); err != nil { return nil }
	return &pod
}`, code: `$out := (&$PReconciler{$in, "blue"}).pod(ctx)`},
	{name: "map function", from: "client", to: "cobject", code: `
builder.ControllerManagedBy($in).Watches(&api.$KPod{}, handler.EnqueueRequestsFromMapFunc(func(_ context.Context, $out client.Object) []reconcile.Request {
	$rest
	return nil
}))`},
	{name: "map function's pod", from: "client", to: "pod", decls: `
type $PMapper struct{ seen *string }

func (m $PMapper) requests(_ context.Context, obj client.Object) []reconcile.Request {
	pod, ok := obj.(*api.$KPod)
	if !ok || pod.Spec.Class == "" { return nil }
	return []reconcile.Request{{ObjectKey: client.ObjectKey{Name: pod.Spec.NodeName}}}
}`, code: `
builder.ControllerManagedBy($in).Watches(&api.$KPod{}, handler.EnqueueRequestsFromMapFunc($PMapper{}.requests))
$out := &api.$KPod{}`},
	{name: "predicate", from: "client", to: "pod", code: `
builder.ControllerManagedBy($in).For(&api.$KPod{}, predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	$out := e.ObjectNew.(*api.$KPod)
	$rest
	return e.ObjectOld.GetGeneration() != 3
}})`},
	{name: "predicate of a filter", from: "client", to: "cobject", code: `
builder.ControllerManagedBy($in).For(&api.$KPod{}, predicate.NewPredicateFuncs(func($out client.Object) bool {
	$rest
	return $out.GetLabels()["app"] == "shop"
}))`},
	{name: "field index", from: "client", to: "cobject", code: `
fields.IndexField(ctx, &api.$KPod{}, "node", func($out client.Object) []string {
	$rest
	return []string{$out.(*api.$KPod).Spec.NodeName}
})
_ = $in`},
}
