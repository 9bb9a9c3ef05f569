// SPDX-License-Identifier: Apache-2.0

package oracle

import "slices"

// sinks let what a program prints depend on a value.
var sinks = slices.Concat(reads, leaks)

// reads read some fields.
var reads = []block{
	{name: "nodes", from: "pods", to: "none", code: `for _, p := range $in { out += p.Spec.NodeName + " " }`},
	{name: "node", from: "pod podvalue", to: "none", code: `out += $in.Spec.NodeName`},
	{name: "phase in switch", from: "pod podvalue", to: "none", code: `
switch $in.Status.Phase {
case "Running", "Pending":
	out += "early"
default:
	out += "late"
}`},
	{name: "method of object", from: "pod", to: "none", code: `if $in.IsReady() { out += "ready" }`},
	{name: "metadata of object", from: "pod podvalue", to: "none", code: `
out += $in.Name + $in.Labels["app"] + strconv.Itoa(int($in.Generation)) + strings.Join($in.Finalizers, ",")`},
	{name: "controller", from: "pod objects", to: "none", code: `
if owner := metav1.GetControllerOf($in); owner != nil { out += owner.Kind + "/" + owner.Name }`},
	{name: "deleted", from: "pod objects", to: "none", code: `
if when := $in.GetDeletionTimestamp(); !when.IsZero() { out += when.UTC().String() }`},
	{name: "keys of annotations", from: "objects pod", to: "none", code: `
for _, key := range slices.Sorted(maps.Keys($in.GetAnnotations())) { out += key }`},
	{name: "ContainsFinalizer", from: "pod", to: "none", code: `
if controllerutil.ContainsFinalizer($in, "keep") { out += "kept" }`},
	{name: "AddFinalizer", from: "pod", to: "none", code: `
if controllerutil.AddFinalizer($in.DeepCopy(), "keep") { out += "added" }`},
	{name: "Apply of a new object", from: "pod podvalue", to: "none", code: `
wr.Apply(ctx, &api.$KPod{ObjectMeta: metav1.ObjectMeta{Name: $in.Name}, Spec: api.$KSpec{NodeName: $in.Spec.NodeName, Args: $in.Spec.Args}})`},
	{name: "Create of a new object", from: "pod podvalue", to: "none", code: `
$Pnew := &api.$KPod{}
$Pnew.Spec.Class = "c-" + $in.Spec.Class
cl.Create(ctx, $Pnew)`},
	{name: "List of a clientset", from: "pod podvalue", to: "none", code: `
pi.List(ctx, metav1.ListOptions{LabelSelector: "app=" + $in.Labels["app"]})`},
	{name: "replicas of object", from: "pod podvalue", to: "none", code: `
if n := $in.Spec.Replicas; n != nil && *n > 1 { out += "many" }`},
	{name: "promoted field", from: "specs", to: "none", code: `out += $in.Class + strconv.Itoa(int($in.$KTuning.Priority))`},
	{name: "presence", from: "specs", to: "none", code: `
if $in.Security != nil { out += "secure" }
out += strconv.Itoa(len($in.Containers) + len($in.Args))`},
	{name: "ports", from: "specs", to: "none", code: `
for _, c := range $in.Containers {
	for i := range c.Ports { out += strconv.Itoa(int(c.Ports[i].Number)) }
}`},
	{name: "volume that is there", from: "specs", to: "none", code: `
if v, ok := $in.Volumes["data"]; ok && v.ReadOnly { out += "read-only" }`},
	{name: "zones of spec", from: "specs", to: "none", code: `for _, z := range $in.Zones { out += z.Name }`},
	{name: "ready", from: "statuses", to: "none", code: `out += strconv.FormatBool($in.Ready) + string($in.Phase)`},
	{name: "started", from: "statuses", to: "none", code: `if $in.StartTime != nil { out += $in.StartTime.UTC().String() }`},
	{name: "true condition", from: "statuses", to: "none", code: `
for _, c := range $in.Conditions {
	if c.Type == "Ready" && c.Status == "True" { out += c.Reason }
}`},
	{name: "images", from: "containers", to: "none", code: `for i := range $in { out += $in[i].Image }`},
	{name: "number of containers", from: "containers conditions owners args labels volumes", to: "none", code: `out += strconv.Itoa(len($in))`},
	{name: "names of containers", from: "container containerp", to: "none", code: `out += strings.ToUpper($in.Name)`},
	{name: "method of container", from: "containerp", to: "none", code: `if $in.IsNamed("a") { out += "named" }`},
	{name: "method of container as value", from: "containerp", to: "none", code: `$Pf := $in.IsNamed; if $Pf("a") { out += "named" }`},
	{name: "first port", from: "container containerp", to: "none", code: `if p := &$in.Ports[0]; p.Number > 80 { out += p.Name }`},
	{name: "status of condition", from: "condition", to: "none", code: `out += $in.Type + "=" + $in.Status`},
	{name: "user", from: "security securityvalue", to: "none", code: `out += strconv.Itoa(int($in.User))`},
	{name: "pointer compared", from: "security replicas pod", to: "none", code: `if $in == nil { out += "none" }`},
	{name: "path of volume", from: "volume", to: "none", code: `out += $in.Path`},
	{name: "paths of volumes", from: "volumes", to: "none", code: `
var $Ppaths []string
for _, v := range $in { $Ppaths = append($Ppaths, v.Path) }
slices.Sort($Ppaths)
out += strings.Join($Ppaths, ",")`},
	{name: "names of volumes", from: "volumes labels", to: "none", code: `out += strings.Join(slices.Sorted(maps.Keys($in)), ",")`},
	{name: "weight of zone", from: "zone", to: "none", code: `if $in.Weight > 5 { out += "heavy" }`},
	{name: "weights", from: "zones", to: "none", code: `
$Psum := 0
for i := range $in { $Psum += int($in[i].Weight) }
out += strconv.Itoa($Psum)`},
	{name: "label", from: "labels", to: "none", code: `out += $in["app"]`},
	{name: "owner's name", from: "owners", to: "none", code: `for _, o := range $in { out += o.Name }`},
	{name: "joined args", from: "args", to: "none", code: `out += strings.Join($in, " ")`},
	{name: "bytes of args", from: "args", to: "none", code: `for _, a := range $in { for _, b := range []byte(a) { out += strconv.Itoa(int(b)) } }`},
	{name: "args contain", from: "args", to: "none", code: `if slices.Contains($in, "-v") { out += "verbose" }`},
	{name: "args in array", from: "args", to: "none", code: "var $Pa [4]string\ncopy($Pa[:], $in)\nout += $Pa[0]"},
	{name: "replicas", from: "replicas", to: "none", code: `if $in != nil { out += strconv.Itoa(int(*$in) * 2) }`},
	{name: "cmp.Or", from: "replicas", to: "none", code: `if n := cmp.Or($in, new(int32)); *n > 1 { out += "many" }`},

	{name: "selector of labels", from: "labels", to: "none", code: `
if labels.SelectorFromSet(labels.Set{"app": "shop"}).Matches($in) { out += "selected" }`},
	{name: "selector made of labels", from: "labels", to: "none", code: `
if labels.SelectorFromSet($in).Matches(map[string]string{"app": "shop"}) { out += "selected" }`},
	{name: "range without values", from: "containers conditions owners args", to: "none", code: `for range $in { out += "." }`},
	{name: "range over indexes", from: "containers conditions owners args zones", to: "none", code: `for i := range $in { out += strconv.Itoa(i) }`},
	{name: "range over keys", from: "volumes labels", to: "none", code: `
$Pkeys := 0
for k := range $in { $Pkeys += len(k) }
out += strconv.Itoa($Pkeys)`},
	{name: "pointer to field", from: "specp", to: "none", decls: `
func $PDefault(s *string) { if *s == "" { *s = "default" } }`, code: "$Ps := &$in.Class\nout += *$Ps"},
	{name: "default of a copy", from: "specs", to: "none", decls: `
func $PDefault(s *string) { if *s == "" { *s = "default" } }`, code: "$Pspec := $in.DeepCopy()\n$PDefault(&$Pspec.Class)\nout += $Pspec.Class"},
	{name: "pointers to fields", from: "specp", to: "none", code: `for _, s := range []*string{&$in.Class, &$in.NodeName} { out += *s }`},
	{name: "map of pointers to fields", from: "statusp", to: "none", code: `
for _, b := range map[string]*bool{"ready": &$in.Ready} { out += strconv.FormatBool(*b) }`},
	{name: "field through function", from: "specp", to: "none", decls: `
func $PPriority(s $T) *int32 { return &s.Priority }`, code: `out += strconv.Itoa(int(*$PPriority($in)))`},
	{name: "method expression of object", from: "pod", to: "none", code: "$Pf := (*api.$KPod).IsReady\nout += strconv.FormatBool($Pf($in))"},
	{name: "table of checks", from: "pod", to: "none", code: `
for _, c := range []struct { name string; holds func($T) bool }{
	{"ready", (*api.$KPod).IsReady},
	{"many", func(p $T) bool { return p.Spec.Replicas != nil && *p.Spec.Replicas > 1 }},
} {
	if c.holds($in) { out += c.name }
}`},
	{name: "table of getters", from: "pod", to: "none", decls: `
var $PColumns = map[string]func($T) string{
	"node":  func(p $T) string { return p.Spec.NodeName },
	"phase": func(p $T) string { return string(p.Status.Phase) },
}`, code: `for _, name := range []string{"node", "phase"} { out += $PColumns[name]($in) }`},
	{name: "own interface of object", from: "pod", to: "none", code: `
var $Pr interface{ IsReady() bool } = $in
out += strconv.FormatBool($Pr.IsReady())`},
	{name: "object embedded in a struct", from: "pod", to: "none", decls: `
type $PView struct{ metav1.Object; extra string }`, code: `out += $PView{$in, "x"}.GetAnnotations()["note"]`},
	{name: "object in an embedding struct", from: "pod", to: "none", decls: `
type $PView struct{ $T; extra string }

func (v $PView) node() string { return v.Spec.NodeName + v.extra }`, code: `out += $PView{$in, "x"}.node()`},
	{name: "method of own type", from: "spec", to: "none", decls: `
type $POwn $T

func (o $POwn) node() string { return o.NodeName }`, code: `out += $POwn($in).node()`},
	{name: "own copy", from: "containers", to: "none", decls: "type $PPlain struct{ image string; ports int }", code: `
var $Pall []$PPlain
for _, c := range $in { $Pall = append($Pall, $PPlain{c.Image, len(c.Ports)}) }
out += fmt.Sprintf("%+v", $Pall)`},
	{name: "key of a struct of fields", from: "containers", to: "none", decls: "type $PKey struct{ name, image string }", code: `
$Pm := map[$PKey]int{}
for _, c := range $in { $Pm[$PKey{c.Name, c.Image}]++ }
out += fmt.Sprint($Pm)`},
	{name: "generic reader", from: "zone containerp container", to: "none", decls: `
func $PRead[T, F any](v T, field func(T) F) F { return field(v) }`, code: `out += $PRead($in, func(v $T) string { return v.Name })`},
	{name: "slices.Equal", from: "args", to: "none", code: `if slices.Equal($in, []string{"-v"}) { out += "equal" }`},
	{name: "sorted args", from: "args", to: "none", code: "$Pa := slices.Clone($in)\nsort.Strings($Pa)\nout += fmt.Sprint($Pa)"},
	{name: "range over string", from: "spec", to: "none", code: `for _, r := range $in.NodeName { if r == '~' { out += "tilde" } }`},
	{name: "maps.Equal", from: "labels", to: "none", code: `if maps.Equal($in, map[string]string{"app": "shop"}) { out += "equal" }`},
	{name: "Ready by pointer", from: "conditions", to: "none", decls: `
func $PFind(all []api.$KCondition, of string) *api.$KCondition { for i := range all { if all[i].Type == of { return &all[i] } }; return nil }`, code: `
if c := $PFind($in, "Ready"); c != nil && c.Status == "True" { out += "ready" }`},
	{name: "shadowed by goto", from: "args", to: "none", code: `
	{
		i := 0
	$Pnext:
		if i < len($in) { out += $in[i]; i++; goto $Pnext }
	}`},
	{name: "io.Reader", from: "pod", to: "none", lost: true, decls: `
type $PReader struct{ pod $T; done bool }

func (r *$PReader) Read(b []byte) (int, error) {
	if r.done { return 0, io.EOF }
	r.done = true
	return copy(b, r.pod.Spec.NodeName), nil
}`, code: "$Pdata, _ := io.ReadAll(&$PReader{pod: $in})\nout += string($Pdata)"},
	{name: "bufio.Scanner", from: "pod", to: "none", code: `
$Pscanner := bufio.NewScanner(strings.NewReader($in.Spec.NodeName + "\n" + $in.Spec.Class))
for $Pscanner.Scan() { out += $Pscanner.Text() }`},
}
