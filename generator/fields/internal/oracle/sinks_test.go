// SPDX-License-Identifier: Apache-2.0

package oracle

// sinks let what a program prints depend on a value. Those that read some fields come first, with
// all that can be done with a field.
var sinks = []block{
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
	{name: "controller", from: "pod object", to: "none", code: `
if owner := metav1.GetControllerOf($in); owner != nil { out += owner.Kind + "/" + owner.Name }`},
	{name: "deleted", from: "pod object", to: "none", code: `
if when := $in.GetDeletionTimestamp(); !when.IsZero() { out += when.UTC().String() }`},
	{name: "keys of annotations", from: "object pod", to: "none", code: `
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

	// all of a value
	{name: "fmt %v", from: "data", to: "none", lost: true, code: `out += fmt.Sprintf("%v", $in)`},
	{name: "fmt %+v", from: "data", to: "none", lost: true, code: `out += fmt.Sprintf("%s: %+v", "value", $in)`},
	{name: "fmt %#v", from: "data", to: "none", lost: true, code: `out += fmt.Sprintf("%#v", $in)`},
	{name: "Fprintln", from: "data", to: "none", lost: true, code: "var $Pb strings.Builder\nfmt.Fprintln(&$Pb, $in)\nout += $Pb.String()"},
	{name: "%v of a struct", from: "data", to: "none", lost: true, decls: "type $PShown struct{ name string; v $T }", code: `out += fmt.Sprintf("%v", $PShown{"a", $in})`},
	{name: "%v of a list", from: "data", to: "none", lost: true, code: `out += fmt.Sprint([]any{$in})`},
	{name: "Errorf", from: "data", to: "none", lost: true, code: `out += fmt.Errorf("wrong: %v", $in).Error()`},
	{name: "json", from: "data", to: "none", lost: true, code: "$Pdata, _ := json.Marshal($in)\nout += string($Pdata)"},
	{name: "json of a struct", from: "data", to: "none", lost: true, decls: "type $PBody struct{ V $T `json:\"v\"` }", code: "$Pdata, _ := json.Marshal(&$PBody{$in})\nout += string($Pdata)"},
	{name: "json of an embedding struct", from: "pod specp statusp containerp security", to: "none", lost: true, decls: "type $PBody struct{ $T; More int }", code: "$Pdata, _ := json.Marshal($PBody{$in, 1})\nout += string($Pdata)"},
	{name: "json of a map", from: "data", to: "none", lost: true, code: "$Pdata, _ := json.Marshal(map[string]any{\"v\": $in})\nout += string($Pdata)"},
	{name: "json encoder", from: "data", to: "none", lost: true, code: "var $Pb strings.Builder\njson.NewEncoder(&$Pb).Encode([]$T{$in})\nout += $Pb.String()"},
	{name: "gob", from: "spec specp status statusp container containers conditions condition volume zones zone security", to: "none", lost: true, code: `
var $Pbuf bytes.Buffer
if err := gob.NewEncoder(&$Pbuf).Encode($in); err != nil { out += err.Error() }
$Pbytes := $Pbuf.Bytes()
slices.Sort($Pbytes)
out += string($Pbytes)`},
	{name: "text/template", from: "data", to: "none", lost: true, code: `
var $Pb strings.Builder
template.Must(template.New("").Parse("{{.}}")).Execute(&$Pb, $in)
out += $Pb.String()`},
	{name: "text/template with a field", from: "pod podvalue", to: "none", lost: true, code: `
var $Pb strings.Builder
template.Must(template.New("").Parse("{{.Spec.NodeName}} {{range .Spec.Containers}}{{.Image}}{{end}}")).Execute(&$Pb, $in)
out += $Pb.String()`},
	{name: "text/template with a lister", from: "lister", to: "none", lost: true, code: `
var $Pb strings.Builder
template.Must(template.New("").Parse("{{with .Pods \"shop\"}}{{(.Get \"blue\").Spec.NodeName}}{{end}}")).Execute(&$Pb, $in)
out += $Pb.String()`},
	{name: "text/template with a function", from: "data", to: "none", lost: true, code: `
var $Pb strings.Builder
template.Must(template.New("").Funcs(template.FuncMap{"get": func() $T { return $in }}).Parse("{{get}}")).Execute(&$Pb, nil)
out += $Pb.String()`},
	{name: "text/template in a map", from: "data", to: "none", lost: true, code: `
var $Pb strings.Builder
template.Must(template.New("").Parse("{{.v}}")).Execute(&$Pb, map[string]any{"v": $in})
out += $Pb.String()`},
	{name: "slog", from: "data", to: "none", lost: true, code: `
var $Pb strings.Builder
slog.New(slog.NewJSONHandler(&$Pb, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey { return slog.Attr{} }
	return a
}})).Info("seen", "v", $in)
out += $Pb.String()`},
	{name: "slog.Any", from: "data", to: "none", lost: true, code: `out += slog.Any("v", $in).String()`},
	{name: "reflect.DeepEqual", from: "data", to: "none", lost: true, code: `
$PSeen = append($PSeen[:min(1, len($PSeen))], $in)
out += strconv.FormatBool(reflect.DeepEqual($PSeen[0], $in))`, decls: "var $PSeen []$T"},
	{name: "reflect", from: "data", to: "none", lost: true, decls: `
func $PShow(v reflect.Value) (s string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() { return "nil" }
		return $PShow(v.Elem())
	case reflect.Struct:
		if stringer, ok := v.Interface().(fmt.Stringer); ok { return stringer.String() }
		for i := range v.NumField() { s += $PShow(v.Field(i)) + " " }
	case reflect.Slice, reflect.Array:
		for i := range v.Len() { s += $PShow(v.Index(i)) + " " }
	case reflect.Map:
		for _, key := range v.MapKeys() { s += $PShow(key) }
		s = fmt.Sprint(len(s))
	default:
		s = fmt.Sprint(v)
	}
	return s
}

type $PHeld struct{ V $T }`, code: `out += $PShow(reflect.ValueOf(&$PHeld{$in}))`},
	{name: "fmt of a foreign box", from: "data", to: "none", lost: true, code: "$Pbox := &foreign.Box[$T]{}\n$Pbox.Put($in)\nout += fmt.Sprintf(\"%+v\", *$Pbox)"},
	{name: "foreign", from: "data", to: "none", lost: true, code: `out += foreign.Describe($in)`},
	{name: "foreign callback", from: "data", to: "none", lost: true, code: `out += foreign.Describer(func() any { return $in })`},
	{name: "foreign fetch", from: "nslister nswidgets getter", to: "none", lost: true, code: `out += foreign.Fetch($in, "blue")`},
	{name: "matcher", from: "nslister nswidgets getter", to: "none", lost: true, code: `
out += (&matcher.Matcher[*api.$KPod]{Lister: $in}).Matches("blue")`},

	// methods that other code finds
	{name: "String", from: "data", to: "none", lost: true, decls: `
type $PText struct{ v $T }

func (t $PText) String() string { return fmt.Sprintf("%+v", t.v) }`, code: `out += fmt.Sprint($PText{$in})`},
	{name: "String of a generic type", from: "data", to: "none", lost: true, decls: `
type $PText[T any] struct{ v T }

func (t $PText[T]) String() string { return fmt.Sprintf("<%+v>", t.v) }`, code: `out += fmt.Sprint($PText[$T]{$in})`},
	{name: "String of a generic pointer type", from: "pod", to: "none", lost: true, decls: `
type $PText[T interface{ IsReady() bool }] struct{ v T }

func (t *$PText[T]) String() string { return strconv.FormatBool(t.v.IsReady()) }`, code: `out += fmt.Sprintf("%s", &$PText[$T]{$in})`},
	{name: "Error of a generic type", from: "data", to: "none", lost: true, decls: `
type $PError[T any] struct{ show func(T) string; v T }

func (e $PError[T]) Error() string { return e.show(e.v) }`, code: `
var $Perr error = $PError[$T]{func(v $T) string { return fmt.Sprint(v) }, $in}
out += $Perr.Error()`},
	{name: "Error", from: "pod", to: "none", lost: true, decls: `
type $PError struct{ pod $T }

func (e *$PError) Error() string { return e.pod.Spec.NodeName }`, code: `out += fmt.Errorf("wrong: %w", &$PError{$in}).Error()`},
	{name: "Format", from: "pod", to: "none", lost: true, decls: `
type $PText struct{ pod $T }

func (t $PText) Format(s fmt.State, verb rune) { fmt.Fprint(s, t.pod.Status.Phase) }`, code: `out += fmt.Sprintf("%v", $PText{$in})`},
	{name: "LogValue", from: "pod", to: "none", lost: true, decls: `
type $PLogged struct{ pod $T }

func (l $PLogged) LogValue() slog.Value { return slog.StringValue(l.pod.Spec.NodeName) }`, code: `
var $Pb strings.Builder
slog.New(slog.NewTextHandler(&$Pb, nil)).Info("seen", "v", $PLogged{$in})
out += $Pb.String()[strings.Index($Pb.String(), "msg="):]`},
	{name: "LogValue of a generic type", from: "data", to: "none", lost: true, decls: `
type $PLogged[T any] struct{ v T }

func (l $PLogged[T]) LogValue() slog.Value { return slog.AnyValue(fmt.Sprint(l.v)) }`, code: `
out += slog.Any("v", $PLogged[$T]{$in}).Value.Resolve().String()`},
	{name: "MarshalJSON", from: "pod", to: "none", lost: true, decls: `
type $PBody struct{ pod $T }

func (b $PBody) MarshalJSON() ([]byte, error) { return json.Marshal(b.pod.Spec.NodeName) }`, code: "$Pdata, _ := json.Marshal($PBody{$in})\nout += string($Pdata)"},
	{name: "MarshalJSON of a generic type", from: "data", to: "none", lost: true, decls: `
type $PBody[T any] struct{ V T }

func (b *$PBody[T]) MarshalJSON() ([]byte, error) { return json.Marshal([]T{b.V}) }`, code: "$Pdata, _ := json.Marshal(map[string]any{\"v\": &$PBody[$T]{$in}})\nout += string($Pdata)"},
	{name: "%+v of a struct with MarshalJSON", from: "data", to: "none", lost: true, decls: `
type $PBody struct{ V $T }

func ($PBody) MarshalJSON() ([]byte, error) { return nil, nil }`, code: `out += fmt.Sprintf("%+v", $PBody{$in})`},
	{name: "DeepEqual of a struct with MarshalJSON", from: "data", to: "none", lost: true, decls: `
type $PBody struct{ V $T }

func (*$PBody) MarshalJSON() ([]byte, error) { return nil, nil }

var $PSeen []*$PBody`, code: `
$PSeen = append($PSeen[:min(1, len($PSeen))], &$PBody{$in})
out += strconv.FormatBool(reflect.DeepEqual($PSeen[0], &$PBody{$in}))`},
	{name: "gob of a struct with MarshalJSON", from: "spec status container condition volume zone", to: "none", lost: true, decls: `
type $PBody struct{ V $T }

func ($PBody) MarshalJSON() ([]byte, error) { return nil, nil }`, code: `
var $Pbuf bytes.Buffer
gob.NewEncoder(&$Pbuf).Encode(&$PBody{$in})
$Pbytes := $Pbuf.Bytes()
slices.Sort($Pbytes)
out += string($Pbytes)`},
	{name: "template of a struct with MarshalJSON", from: "data", to: "none", lost: true, decls: `
type $PBody struct{ V $T }

func ($PBody) MarshalJSON() ([]byte, error) { return nil, nil }`, code: `
var $Pb strings.Builder
template.Must(template.New("").Parse("{{.V}}")).Execute(&$Pb, $PBody{$in})
out += $Pb.String()`},
	{name: "String over a lister", from: "getters", to: "none", decls: `
type $PText struct{ of $T }

func (t $PText) String() string { pod, _ := t.of.Get("blue"); return pod.Spec.NodeName }`, code: `out += fmt.Sprint($PText{$in})`},
	{name: "String of a generic type over a lister", from: "getters", to: "none", lost: true, decls: `
type $PText[G interface{ Get(string) (*api.$KPod, error) }] struct{ of G }

func (t *$PText[G]) String() string { pod, _ := t.of.Get("blue"); return pod.Spec.NodeName }`, code: `out += fmt.Sprint(&$PText[$T]{$in})`},
	{name: "MarshalJSON of a generic type over a lister", from: "getters", to: "none", lost: true, decls: `
type $PBody[G interface{ Get(string) (*api.$KPod, error) }] struct{ of G }

func (b $PBody[G]) MarshalJSON() ([]byte, error) { pod, _ := b.of.Get("blue"); return json.Marshal(string(pod.Status.Phase)) }`, code: "$Pdata, _ := json.Marshal([]any{$PBody[$T]{$in}})\nout += string($Pdata)"},
	{name: "LogValue of a generic type over a function", from: "data", to: "none", lost: true, decls: `
type $PLogged[T any] struct{ of func() T; show func(T) string }

func (l $PLogged[T]) LogValue() slog.Value { return slog.StringValue(l.show(l.of())) }`, code: `
out += slog.Any("v", $PLogged[$T]{func() $T { return $in }, func(v $T) string { return fmt.Sprintf("%+v", v) }}).Value.Resolve().String()`},
	{name: "String of a generic type beside", from: "pod", to: "none", lost: true, decls: `
var $PKept $T

type $PText[T any] struct{ v T }

func ($PText[T]) String() string { return $PKept.Spec.Class }`, code: "$PKept = $in\nout += fmt.Sprint($PText[int]{1})"},
	{name: "MarshalText as a key", from: "pod", to: "none", lost: true, decls: `
type $PKey struct{ pod $T }

func (k $PKey) MarshalText() ([]byte, error) { return []byte(k.pod.Spec.Class), nil }`, code: `
$Pdata, _ := json.Marshal(map[$PKey]int{{$in}: 1})
out += string($Pdata)`},

	// comparisons
	{name: "==", from: "comparable", to: "none", lost: true, decls: "var $PFirst *$T", code: `
if $PFirst == nil { $PFirst = &$in }
out += strconv.FormatBool($in == *$PFirst)`},
	{name: "== behind pointers", from: "security", to: "none", lost: true, code: `out += strconv.FormatBool($in != nil && *$in == api.$KSecurity{User: 1, Group: "g-blue"})`},
	{name: "== of interfaces", from: "comparable", to: "none", lost: true, code: `
var $Pv any = $in
if $PFirst == nil { $PFirst = $Pv }
out += strconv.FormatBool($Pv == $PFirst)`, decls: "var $PFirst any"},
	{name: "map key", from: "comparable", to: "none", lost: true, code: "$Pm := map[$T]bool{}\n$Pm[$in] = true\nfor v := range $Pm { out += fmt.Sprint(v) }"},
	{name: "part of map key", from: "comparable", to: "none", lost: true, decls: "type $PKey struct{ name string; v $T }", code: "$Pm := map[$PKey]int{}\n$Pm[$PKey{\"a\", $in}]++\nfor k := range $Pm { out += fmt.Sprint(k.v) }"},
	{name: "comparable type parameter", from: "comparable", to: "none", lost: true, decls: `
var $PSeen []$T

func $PIndex[T comparable](all []T, v T) int { for i := range all { if all[i] == v { return i } }; return -1 }`, code: `
$PSeen = append($PSeen[:min(1, len($PSeen))], $in)
out += strconv.Itoa($PIndex($PSeen[:1], $in))`},
	{name: "slices.Contains", from: "comparable", to: "none", lost: true, decls: "var $PSeen []$T", code: `
$PSeen = append($PSeen[:min(1, len($PSeen))], $in)
out += strconv.FormatBool(slices.Contains($PSeen[:1], $in))`},
	{name: "maphash", from: "comparable", to: "none", lost: true, decls: "var $PSeed = maphash.MakeSeed()", code: `out += strconv.FormatUint(maphash.Comparable($PSeed, $in), 16)`},

	// writes
	{name: "Update", from: "pod", to: "none", lost: true, code: `cl.Update(ctx, $in)`},
	{name: "Update of a copy", from: "pod", to: "none", lost: true, code: "$Pcopy := $in.DeepCopy()\n$Pcopy.Labels = nil\ncl.Update(ctx, $Pcopy)"},
	{name: "Update of a clientset", from: "pod", to: "none", lost: true, code: `pi.Update(ctx, $in, metav1.UpdateOptions{})`},
	{name: "writer's Update", from: "pod", to: "none", lost: true, code: `wr.Update(ctx, $in)`},
	{name: "Create with a part", from: "spec", to: "none", lost: true, code: `cl.Create(ctx, &api.$KPod{Spec: $in})`},
	{name: "CreateOrUpdate with a part", from: "specs", to: "none", lost: true, code: `
$Pnew := &api.$KPod{ObjectMeta: metav1.ObjectMeta{Name: "new"}}
controllerutil.CreateOrUpdate(ctx, cl, $Pnew, func() error {
	$Pnew.Spec.Containers = $in.Containers
	$Pnew.Spec.NodeName = $in.NodeName
	return nil
})`},
}
