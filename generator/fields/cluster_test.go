// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// kindOf is a kind of a package with a constant GroupName, unless that is "none", of whose objects
// a program reads .spec.nodeName.
func kindOf(t *testing.T, pkg, groupName, name string) *Kind {
	t.Helper()
	source := "package v1\n"
	if groupName != "none" {
		source += fmt.Sprintf("const GroupName = %q\n", groupName)
	}
	source += "type " + name + " struct { Spec struct { NodeName string `json:\"nodeName\"` } `json:\"spec\"` }"
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "v1.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	checked, err := new(types.Config).Check(pkg, fset, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Kind{
		Package: pkg, Name: name, typ: checked.Scope().Lookup(name).Type().(*types.Named),
		Uses: []Use{{Path: ".spec.nodeName", How: Read, field: ".spec.nodeName"}},
	}
}

// listOf is a list of objects as a server sends it.
func listOf(n int) string {
	items := strings.Repeat(`{"metadata":{"name":"secret"},"spec":{"nodeName":"secret","volumes":["secret"]}},`, n)
	return `{"kind":"SomeList","metadata":{},"items":[` + strings.TrimSuffix(items, ",") + `]}`
}

// answers are those of an API server, by path. One that isn't JSON is a code and a body.
var answers = map[string]string{
	"/apis": `{"kind":"APIGroupList","groups":[
		{"name":"shop.example.com","versions":[{"version":"v1"},{"version":"v1beta1"}],"preferredVersion":{"version":"v1"}},
		{"name":"park.example.com","versions":[{"version":"v1"}],"preferredVersion":{"version":"v1"}},
		{"name":"down.example.com","versions":[{"version":"v1"}],"preferredVersion":{"version":"v1"}}]}`,
	"/api/v1": `{"kind":"APIResourceList","resources":[
		{"name":"pods","kind":"Pod","verbs":["get","list"]}, {"name":"pods/log","kind":"Pod","verbs":["get","list"]},
		{"name":"bindings","kind":"Binding","verbs":["create"]}, {"name":"nodes","kind":"Node","verbs":["list"]}]}`,
	"/apis/shop.example.com/v1": `{"resources":[
		{"name":"widgets","kind":"Widget","verbs":["list"]}, {"name":"gates","kind":"Gate","verbs":["list"]},
		{"name":"crates","kind":"Crate","verbs":["list"]}, {"name":"pages","kind":"Page","verbs":["list"]},
		{"name":"boxes","kind":"Box","verbs":["list"]}]}`,
	"/apis/park.example.com/v1":         `{"resources":[{"name":"gates","kind":"Gate","verbs":["list"]}]}`,
	"/apis/down.example.com/v1":         `503 {"kind":"Status","message":"the server is\ncurrently unable to handle the request"}`,
	"/api/v1/pods":                      listOf(2),
	"/api/v1/nodes":                     listOf(600),
	"/apis/shop.example.com/v1/widgets": `{"items":null}`,
	"/apis/shop.example.com/v1/gates":   listOf(3),
	"/apis/shop.example.com/v1/crates":  `403 {"kind":"Status","message":"crates is forbidden"}`,
	"/apis/shop.example.com/v1/pages":   `<html>secret</html>`,
	"/apis/shop.example.com/v1/boxes":   `{"items":["secret"]}`,
}

// apiServer answers with answers, and notes what it is asked for.
func apiServer(t *testing.T, asked map[string]int) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked[r.URL.RequestURI()]++
		path, ok := strings.CutPrefix(r.URL.Path, "/cluster")
		answer := answers[path]
		switch {
		case !ok || answer == "":
			http.NotFound(w, r)
		case answer[0] >= '0' && answer[0] <= '9':
			var code int
			fmt.Sscan(answer, &code)
			w.WriteHeader(code)
			fmt.Fprint(w, answer[len("403 "):])
		default:
			fmt.Fprint(w, answer)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// TestSampleOfACluster: what can be read is measured, and of everything else a warning tells why.
func TestSampleOfACluster(t *testing.T) {
	asked := map[string]int{}
	server := apiServer(t, asked)
	cluster, err := NewCluster(t.Context(), server.Client(), server.URL+"/cluster/")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		pkg, group, kind string
		objects          int
		problem          string
	}{
		{"k8s.io/api/core/v1", "", "Pod", 2, ""},
		{"k8s.io/api/core/v1", "", "Node", 500, ""}, // though the server sends more
		{"example.com/api/core", "", "Pod", 2, ""},
		{"example.com/shop/v1", "none", "Widget", 0, ""},
		{"example.com/shop/v1", "shop.example.com", "Gate", 3, ""},
		{"example.com/shop/v1", "none", "Gate", 0, "it is not known which of /apis/shop.example.com/v1/gates and /apis/park.example.com/v1/gates has them: take a file of objects with --sample"},
		{"example.com/shop/v1", "shop.example.com", "Crate", 0, "GET /apis/shop.example.com/v1/crates?limit=500 is answered with 403 Forbidden: crates is forbidden"},
		{"example.com/shop/v1", "shop.example.com", "Page", 0, "the answer to GET /apis/shop.example.com/v1/pages?limit=500 is no such JSON as an API server sends: "},
		{"example.com/shop/v1", "shop.example.com", "Box", 0, "the answer to GET /apis/shop.example.com/v1/boxes?limit=500 is no such JSON as an API server sends: "},
		{"example.com/shop/v1", "shop.example.com", "Missing", 0, "the server has no such kind in version v1 of shop.example.com: is its CustomResourceDefinition installed?"},
		{"example.com/shop/v1beta1", "shop.example.com", "Gate", 0, "GET /apis/shop.example.com/v1beta1 is answered with 404 Not Found: no reason is given"},
		{"example.com/shop/v1alpha1", "shop.example.com", "Gate", 0, "the server has no such kind in version v1alpha1 of shop.example.com: is its "},
		{"example.com/shop", "none", "Missing", 0, "GET /apis/down.example.com/v1 is answered with 503 Service Unavailable: the server is currently unable to handle the request"},
		{"k8s.io/api/core/v1", "", "Binding", 0, "the server has no such kind in version v1: is its "},
	} {
		k := kindOf(t, tc.pkg, tc.group, tc.kind)
		sample, problems := cluster.Sample(t.Context(), []*Kind{k})
		name := fmt.Sprintf("%s of %s, group %s", tc.kind, tc.pkg, tc.group)
		want := fmt.Sprintf("warning: reading %s objects of package %s from the cluster: %s", tc.kind, tc.pkg, tc.problem)
		if tc.problem == "" && len(problems) > 0 || tc.problem != "" && (len(problems) != 1 || !strings.HasPrefix(problems.Error(), want)) {
			t.Errorf("%s: got\n%v\nwant\n%s", name, problems, want)
		}
		if strings.Contains(problems.Error(), "secret") {
			t.Errorf("%s: the message has something of an object: %v", name, problems)
		}
		saving, ok := k.Measure(sample)
		if ok != (tc.objects > 0) || saving.Objects != tc.objects {
			t.Errorf("%s: %d objects, want %d", name, saving.Objects, tc.objects)
		}
		if ok && (saving.KeptBytes == 0 || saving.KeptBytes >= saving.Bytes || saving.KeptHeap == 0) {
			t.Errorf("%s: measured %+v", name, saving)
		}
	}
	if n := asked["/cluster/api/v1"]; n != 1 {
		t.Errorf("asked %d times for the resources of one version", n)
	}
}

// TestSampleReadsNoMoreThanIsMeasured: of kinds without a projection, nothing is asked for.
func TestSampleReadsNoMoreThanIsMeasured(t *testing.T) {
	asked := map[string]int{}
	server := apiServer(t, asked)
	cluster, err := NewCluster(t.Context(), server.Client(), server.URL+"/cluster")
	if err != nil {
		t.Fatal(err)
	}
	whole, none := kindOf(t, "k8s.io/api/core/v1", "", "Pod"), kindOf(t, "k8s.io/api/core/v1", "", "Node")
	whole.Uses = append(whole.Uses, Use{How: WrittenBack})
	none.Uses = nil
	if _, problems := cluster.Sample(t.Context(), []*Kind{whole, none}); len(problems) > 0 || len(asked) != 1 {
		t.Errorf("asked for %v, %v", asked, problems)
	}
}

func TestClustersThatCannotBeRead(t *testing.T) {
	server := apiServer(t, map[string]int{})
	if _, err := NewCluster(t.Context(), server.Client(), server.URL); err == nil || !strings.Contains(err.Error(), "GET /apis is answered with 404 Not Found") {
		t.Errorf("another server: %v", err)
	}
	if _, err := NewCluster(t.Context(), server.Client(), "http://\n"); err == nil {
		t.Error("an address that is none was taken")
	}
	server.Close()
	if _, err := NewCluster(t.Context(), server.Client(), server.URL); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("a server that is gone: %v", err)
	}
}
