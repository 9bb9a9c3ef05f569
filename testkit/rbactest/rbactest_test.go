// SPDX-License-Identifier: Apache-2.0

package rbactest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/internal/rbac"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
	"github.com/informer-gen/informer-gen/testkit/sourcetest/patches"
)

func TestNeeds(t *testing.T) {
	for _, test := range []struct{ request, want string }{
		{"GET /api/v1/pods", "list pods"},
		{"GET /api/v1/pods?watch=true", "watch pods"},
		{"GET /api/v1/pods?watch=1&sendInitialEvents=true", "watch pods, list pods"},
		{"GET /api/v1/pods?fieldSelector=metadata.name%3Dweb", "list pods web"},
		{"GET /api/v1/pods?fieldSelector=spec.nodeName%3Da", "list pods"},
		{"GET /api/v1/pods?fieldSelector=!!", "list pods"},
		{"GET /api/v1/namespaces/shop/pods/web", "get pods web in a namespace"},
		{"HEAD /api/v1/namespaces/shop/pods/web", "get pods web in a namespace"},
		{"GET /api/v1/namespaces", "list namespaces"},
		{"GET /api/v1/namespaces/shop", "get namespaces shop in a namespace"},
		{"PUT /api/v1/namespaces/shop/finalize", "update namespaces/finalize shop in a namespace"},
		{"POST /api/v1/namespaces/shop/pods", "create pods in a namespace"},
		{"POST /api/v1/namespaces/shop/pods/web/eviction", "create pods/eviction web in a namespace"},
		{"PATCH /apis/apps/v1/namespaces/shop/deployments/web/status", "patch apps deployments/status web in a namespace"},
		{"DELETE /apis/apps/v1/namespaces/shop/deployments", "deletecollection apps deployments in a namespace"},
		{"DELETE /apis/apps/v1/namespaces/shop/deployments/web", "delete apps deployments web in a namespace"},
		{"GET /api/v1/nodes/n1/proxy/stats/summary", "get nodes/proxy n1"},
		{"POST /api/v1/namespaces/shop/services/web:80/proxy/a/b?c=d", "create services/proxy web:80 in a namespace"},
		{"GET /metrics", "get /metrics"},
		{"POST /logs/a", "post /logs/a"},
		{"GET /apis/apps/v1", "get /apis/apps/v1"},
	} {
		method, url, _ := strings.Cut(test.request, " ")
		req, err := http.NewRequest(method, "http://host"+url, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range needs(req) {
			text := n.Verb + " " + n.Path
			if n.Resource != "" {
				text = strings.TrimSpace(n.Verb+" "+n.Group) + " " + n.Resource
			}
			if n.Subresource != "" {
				text += "/" + n.Subresource
			}
			if n.Name != "" {
				text += " " + n.Name
			}
			if n.Namespaced {
				text += " in a namespace"
			}
			got = append(got, text)
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%s: got %q, want %q", test.request, got, test.want)
		}
	}
}

func TestImpersonatedRequestsAreNotRecorded(t *testing.T) {
	requests, client := programUnderTest(t, func(c *rest.Config) { c.Impersonate.UserName = "anna" })
	if _, err := client.List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	if all := requests.all(); len(all) > 0 {
		t.Errorf("got %v", all)
	}
}

// programUnderTest returns a client of ConfigMaps whose requests are recorded.
func programUnderTest(t *testing.T, options ...func(*rest.Config)) (*Recorder, dynamic.ResourceInterface) {
	t.Helper()
	server := sourcetest.New()
	server.Patches = patches.All{}
	resource := corev1.SchemeGroupVersion.WithResource("configmaps")
	sourcetest.Serve[*corev1.ConfigMap](server, resource, "")
	requests := &Recorder{}
	config := server.Config()
	config.UserAgent = "manager/v1 (test)"
	for _, option := range options {
		option(config)
	}
	own, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := own.Resource(resource).Namespace("shop").List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(requests.Config(config))
	if err != nil {
		t.Fatal(err)
	}
	if got := requests.all(); len(got) > 0 {
		t.Errorf("the test's own requests are recorded: %v", got)
	}
	return requests, client.Resource(resource).Namespace("shop")
}

func apply(t *testing.T, maps dynamic.ResourceInterface, name string) {
	t.Helper()
	content := fmt.Appendf(nil, `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": %q}}`, name)
	if _, err := maps.Patch(t.Context(), name, "application/apply-patch+yaml", content, metav1.PatchOptions{FieldManager: "manager"}); err != nil {
		t.Fatal(err)
	}
}

func TestApplyThatCreatesNeedsCreate(t *testing.T) {
	requests, maps := programUnderTest(t)
	apply(t, maps, "blue")
	apply(t, maps, "blue")
	var got []string
	for _, r := range requests.all() {
		got = append(got, r.Verb+" "+r.First)
	}
	const request = " PATCH /api/v1/namespaces/shop/configmaps/blue?fieldManager=manager by manager"
	if want := []string{"create" + request, "patch" + request}; !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

const start = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nrules:\n"

// writeRole writes a role with one rule.
func writeRole(t *testing.T, resource string, verbs ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "role.yaml")
	rule := fmt.Sprintf("- {apiGroups: [\"\"], resources: [%s], verbs: [%s]}\n", resource, strings.Join(verbs, ", "))
	if err := os.WriteFile(name, []byte(start+rule), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// fakeTB collects the errors of a test.
type fakeTB struct {
	testing.TB
	errors []string
}

func (f *fakeTB) Helper()           {}
func (f *fakeTB) Error(args ...any) { f.errors = append(f.errors, fmt.Sprint(args...)) }

func TestChecks(t *testing.T) {
	requests, maps := programUnderTest(t)
	if _, err := maps.Get(t.Context(), "blue", metav1.GetOptions{}); err == nil {
		t.Fatal("blue exists")
	}
	fits, unused := writeRole(t, "configmaps", "get"), writeRole(t, "configmaps", "get", "list")
	missing, none := writeRole(t, "pods", "get"), filepath.Join(t.TempDir(), "none.yaml")
	for _, test := range []struct {
		check func(testing.TB, ...string)
		files []string
		want  []string
	}{
		{requests.Check, []string{fits}, nil},
		{requests.CheckMissing, []string{fits}, nil},
		{requests.Check, []string{unused}, []string{unused + ":4:33: no request needs list of configmaps"}},
		{requests.CheckMissing, []string{unused}, nil},
		{requests.Check, []string{missing}, []string{
			missing + ": no rule allows get of configmaps; needed for GET /api/v1/namespaces/shop/configmaps/blue by manager",
			missing + ":4:33: no request needs get of pods",
		}},
		{requests.CheckMissing, []string{missing}, []string{"no rule allows get of configmaps"}},
		{requests.CheckMissing, []string{missing, fits}, nil},
		{requests.Check, []string{none}, []string{none}},
		{requests.Check, nil, []string{"name the files that have the role"}},
	} {
		var tb fakeTB
		test.check(&tb, test.files...)
		text := strings.Join(tb.errors, "\n")
		if (test.want == nil) != (text == "") {
			t.Errorf("%s: got %q", test.files, text)
		}
		for _, want := range test.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: got %q, want %q", test.files, text, want)
			}
		}
	}
}

type tests func() int

func (f tests) Run() int { return f() }

func TestCheckedTests(t *testing.T) {
	requests, maps := programUnderTest(t)
	list := func(code int) M {
		return tests(func() int {
			if _, err := maps.List(context.Background(), metav1.ListOptions{}); err != nil {
				t.Error(err)
			}
			return code
		})
	}
	fits, missing := writeRole(t, "configmaps", "list"), writeRole(t, "pods", "list")
	for _, test := range []struct {
		role       string
		code, want int
	}{{fits, 0, 0}, {missing, 0, 1}, {fits, 3, 3}, {missing, 3, 3}} {
		if got := requests.Checked(list(test.code), test.role).Run(); got != test.want {
			t.Errorf("%v: got exit code %d", test, got)
		}
	}
}

func TestRecordsForTheCommand(t *testing.T) {
	folder := t.TempDir()
	t.Setenv(rbac.Folder, folder)
	requests, maps := programUnderTest(t)
	requests.Program = "manager"
	for range 2 {
		apply(t, maps, "blue")
	}
	requests.Check(t, "none.yaml") // left to the command
	records, err := rbac.ReadRecords(folder)
	if err != nil || len(records) != 2 || records[0].Program != "manager" {
		t.Errorf("got %v, %v", records, err)
	}
}

func TestRecordsThatCannotBeWrittenFailTheRequest(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "none")
	t.Setenv(rbac.Folder, folder)
	_, maps := programUnderTest(t)
	if _, err := maps.List(t.Context(), metav1.ListOptions{}); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), folder) {
		t.Errorf("got %v", err)
	}
}

type failing struct{}

func (failing) RoundTrip(req *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, req.Body)
	return nil, errors.New("no network")
}

func TestRequestsThatFailAreRecorded(t *testing.T) {
	var requests Recorder
	config := requests.Config(&rest.Config{Host: "http://host", Transport: failing{}})
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Post("http://host/api/v1/pods", "application/json", strings.NewReader("{}")); err == nil { //nolint:bodyclose // there is none
		t.Error("no error")
	}
	if got := requests.all(); len(got) != 1 || got[0].Verb != "create" {
		t.Errorf("got %v", got)
	}
}
