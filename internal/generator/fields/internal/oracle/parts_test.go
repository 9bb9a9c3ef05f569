// SPDX-License-Identifier: Apache-2.0

package oracle

// partWays lead from lists to objects, and from objects to their parts.
var partWays = []block{
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
	{name: "GetLabels", from: "pod objects", to: "labels", code: `$out := $in.GetLabels()`},
	{name: ".OwnerReferences", from: "pod podvalue", to: "owners", code: `$out := $in.OwnerReferences`},
	{name: "GetOwnerReferences", from: "objects", to: "owners", code: `$out := $in.GetOwnerReferences()`},
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

	{name: "as client.Object", from: "pod", to: "cobject", code: `var $out client.Object = $in`},
	{name: "as runtime.Object", from: "pod cobject", to: "robject", code: `var $out kruntime.Object = $in`},
	{name: "asserted", from: "object robject cobject labeled", to: "pod", code: `$out := $in.(*api.$KPod)`},
	{name: "asserted to metav1.Object", from: "robject", to: "object", code: `$out, _ := $in.(metav1.Object)`},
	{name: "as own interface", from: "pod objects", to: "labeled", decls: `
type $PLabeled interface {
	GetLabels() map[string]string
	GetFinalizers() []string
}`, code: `var $out $PLabeled = $in`},
	{name: "GetLabels by own interface", from: "labeled", to: "labels", code: `$out := $in.GetLabels()`},
	{name: "zone of own type", from: "spec", to: "zone", decls: `
type $POwn api.$KSpec

func (o *$POwn) last() api.$KZone { return o.Zones[1] }`, code: "$Po := $POwn($in)\n$out := $Po.last()"},
	{name: "address in a list", from: "containers conditions", to: "containers", code: `
$out := []api.$KContainer{}
for _, p := range []*$E{&$in[0]} { $out = append($out, api.$KContainer{Name: p.$F}) }`},
	{name: "Values of containers", from: "containers", to: "container", code: "for $out := range slices.Values($in) {\n$rest\n}"},
	{name: "Backward", from: "conditions", to: "condition", code: "for _, $out := range slices.Backward($in) {\n$rest\n}"},
	{name: "BinarySearchFunc", from: "containers", to: "container", code: `
$Pat, _ := slices.BinarySearchFunc($in, "a", func(c $E, name string) int { return strings.Compare(c.Name, name) })
$out := $in[$Pat]`},
	{name: "MaxFunc", from: "conditions", to: "condition", code: `
$out := slices.MaxFunc($in, func(a, b $E) int { return cmp.Compare(a.Reason, b.Reason) })`},
	{name: "lookup with method", from: "containers", to: "containerp", code: `
$Pat := slices.IndexFunc($in, func(c $E) bool { return c.IsNamed("a") })
$out := &$in[$Pat]`},
	{name: "parallel lists", from: "pods", to: "status", decls: "type $PRow struct{ name string; status api.$KStatus }", code: `
var $Prows []$PRow
for _, p := range $in { $Prows = append($Prows, $PRow{p.Spec.Class, p.Status}) }
sort.SliceStable($Prows, func(i, j int) bool { return $Prows[i].name > $Prows[j].name })
$out := $Prows[0].status`},
	{name: "ready ones", from: "pods", to: "pods", code: `$out := slices.DeleteFunc(slices.Clone($in), func(p *api.$KPod) bool { return !(*api.$KPod).IsReady(p) })`},
	{name: "converted struct", from: "zone", to: "zone", code: "$Pz := struct { Name string; Weight int64 }($in)\n$out := api.$KZone{Name: $Pz.Name, Weight: $Pz.Weight * 2}"},
}
