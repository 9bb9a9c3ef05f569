// SPDX-License-Identifier: Apache-2.0

package oracle

// leaks use all of a value at once, or let it go where it can hardly be followed.
var leaks = []block{
	// all of a value
	{name: "fmt %v", from: "data", to: "none", lost: true, code: `out += fmt.Sprintf("%v", $in)`},
	{name: "fmt %+v", from: "data", to: "none", lost: true, code: `out += fmt.Sprintf("%s: %+v", "value", $in)`},
	{name: "fmt %#v", from: "data", to: "none", lost: true, code: `out += fmt.Sprintf("%#v", $in)`},
	{name: "Fprintln", from: "data", to: "none", lost: true, code: "var $Pb strings.Builder\nfmt.Fprintln(&$Pb, $in)\nout += $Pb.String()"},
	{name: "%v of a struct", from: "values", to: "none", lost: true, decls: "type $PShown struct{ name string; v $T }", code: `out += fmt.Sprintf("%v", $PShown{"a", $in})`},
	{name: "%v of a list", from: "values", to: "none", lost: true, code: `out += fmt.Sprint([]any{$in})`},
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
	{name: "fmt of a foreign box", from: "values", to: "none", lost: true, code: "$Pbox := &foreign.Box[$T]{}\n$Pbox.Put($in)\nout += fmt.Sprintf(\"%+v\", *$Pbox)"},
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
	{name: "%+v of a struct with MarshalJSON", from: "values", to: "none", lost: true, decls: `
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
	{name: "String over a lister", from: "getters", to: "none", lost: true, decls: `
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
	{name: "== behind pointers", from: "security", to: "none", lost: true, code: `out += strconv.FormatBool($in != nil && *$in == api.$KSecurity{User: 1, Group: "g"})`},
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

	{name: "errors.Is", from: "pod", to: "none", lost: true, decls: `
type $PError struct{ pod $T }

func ($PError) Error() string { return "wrong" }
func (e $PError) Is(target error) bool { return e.pod.Status.Ready }`, code: `out += strconv.FormatBool(errors.Is(fmt.Errorf("%w", $PError{$in}), io.EOF))`},
	{name: "io.Reader of a generic type", from: "pod", to: "none", lost: true, decls: `
type $PReader[T interface{ IsReady() bool }] struct{ v T; done bool }

func (r *$PReader[T]) Read(b []byte) (int, error) {
	if r.done { return 0, io.EOF }
	r.done = true
	return copy(b, strconv.FormatBool(r.v.IsReady())), nil
}`, code: "$Pdata, _ := io.ReadAll(&$PReader[$T]{v: $in})\nout += string($Pdata)"},
	{name: "template calls a method", from: "pod", to: "none", lost: true, decls: `
type $PPage struct{ pod $T }

func (p *$PPage) Node() string { return p.pod.Spec.NodeName }`, code: `
var $Pb strings.Builder
template.Must(template.New("").Parse("{{.Node}}")).Execute(&$Pb, &$PPage{$in})
out += $Pb.String()`},
	{name: "template calls a method of a generic type", from: "data", to: "none", lost: true, decls: `
type $PPage[T any] struct{ v T; show func(T) string }

func (p *$PPage[T]) Text() string { return p.show(p.v) }`, code: `
var $Pb strings.Builder
template.Must(template.New("").Parse("{{.Text}}")).Execute(&$Pb, &$PPage[$T]{$in, func(v $T) string { return fmt.Sprintf("%+v", v) }})
out += $Pb.String()`},
	{name: "reflect calls a method", from: "pod", to: "none", lost: true, decls: `
type $PService struct{ pod $T }

func (s $PService) Class() string { return s.pod.Spec.Class }`, code: `out += reflect.ValueOf($PService{$in}).MethodByName("Class").Call(nil)[0].String()`},
	{name: "String of own type", from: "spec status container", to: "none", lost: true, decls: `
type $POwn $T

func (o $POwn) String() string { return fmt.Sprintf("%+v", $T(o)) }`, code: `out += fmt.Sprint($POwn($in))`},
	{name: "%+v of own type with MarshalJSON", from: "spec status container zone", to: "none", lost: true, decls: `
type $POwn $T

func ($POwn) MarshalJSON() ([]byte, error) { return nil, nil }`, code: `out += fmt.Sprintf("%+v", $POwn($in))`},
	{name: "json of own type with MarshalJSON", from: "spec status container zone", to: "none", lost: true, decls: `
type $POwn $T

func (o *$POwn) MarshalJSON() ([]byte, error) { return json.Marshal((*$T)(o)) }`, code: "$Po := $POwn($in)\n$Pdata, _ := json.Marshal(&$Po)\nout += string($Pdata)"},
	{name: "Semantic.DeepEqual of parts", from: "pod", to: "none", lost: true, code: `
out += strconv.FormatBool(equality.Semantic.DeepEqual($in.Spec.Containers, []api.$KContainer{{Name: "a", Image: "i", Ports: []api.$KPort{{Name: "web", Number: 81}}}}))`},
	{name: "json of a list of structs", from: "data", to: "none", lost: true, decls: "type $PRow struct{ Name string; V any }", code: `
$Prows := []$PRow{{Name: "a"}}
$Prows[0].V = $in
$Pdata, _ := json.Marshal($Prows)
out += string($Pdata)`},
	{name: "json in a method", from: "data", to: "none", lost: true, decls: `
type $PServer struct{ enc *json.Encoder; state map[string]$T }

func (s *$PServer) serve() error { return s.enc.Encode(s.state) }`, code: `
var $Pb strings.Builder
(&$PServer{json.NewEncoder(&$Pb), map[string]$T{"a": $in}}).serve()
out += $Pb.String()`},
	{name: "own printf", from: "data", to: "none", lost: true, decls: `
func $PLogf(to *string, format string, args ...any) { *to += fmt.Sprintf(format, args...) }`, code: `$PLogf(&out, "%s %+v", "seen", $in)`},
	{name: "logger in a struct", from: "data", to: "none", lost: true, decls: `
type $PLog struct{ printf func(string, ...any) string }`, code: `out += $PLog{fmt.Sprintf}.printf("%+v", $in)`},
	{name: "logger behind an interface", from: "data", to: "none", lost: true, decls: `
type $PLogger interface{ info$P(msg string, args ...any) }

type $PLog struct{ to *string }

func (l $PLog) info$P(msg string, args ...any) { *l.to += fmt.Sprint(append([]any{msg}, args...)...) }`, code: "var $Pl $PLogger = $PLog{&out}\n$Pl.info$P(\"seen\", \"v\", $in)"},
	{name: "slog.With", from: "data", to: "none", lost: true, code: `
var $Pb strings.Builder
slog.New(slog.NewTextHandler(&$Pb, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey { return slog.Attr{} }
	return a
}})).With(slog.Group("g", slog.Any("v", $in))).Info("seen")
out += $Pb.String()`},
	{name: "patch by JSON", from: "pod", to: "none", lost: true, code: `
$Pbefore, _ := json.Marshal($in)
$Pcopy := $in.DeepCopy()
$Pcopy.Spec.Class = "x"
$Pafter, _ := json.Marshal($Pcopy)
out += strconv.Itoa(len($Pbefore) - len($Pafter)) + string($Pafter)`},
	{name: "status written back", from: "pod", to: "none", lost: true, decls: `
func $PSetReady(p $T, ready bool) bool {
	if p.Status.Ready == ready { return false }
	p.Status.Ready = ready
	return true
}`, code: "$Pcopy := $in.DeepCopy()\nif $PSetReady($Pcopy, false) { pi.Update(ctx, $Pcopy, metav1.UpdateOptions{}) }"},
	{name: "Create of a part by generic function", from: "specs", to: "none", lost: true, decls: `
func $PEnsure[T client.Object](ctx context.Context, c client.Client, obj T, change func(T)) error { change(obj); return c.Create(ctx, obj) }`, code: `
$PEnsure(ctx, cl, &api.$KPod{}, func(p *api.$KPod) { p.Spec.Volumes = $in.Volumes })`},
}
