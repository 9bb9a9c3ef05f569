// SPDX-License-Identifier: Apache-2.0

package inspect_test

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/inspect"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/workqueue"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestPageShowsProblems has a healthy informer with a stuck handler, and informers without rights,
// without a resource, and not started.
func TestPageShowsProblems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue"), pod("shop", "red"))
		sourcetest.Serve[*corev1.Node](server.Server, nodeResource, "Node")
		server.refuse("nodes", http.StatusForbidden)
		f := server.factory(t)
		h := inspect.Handler(f)
		pods := factories.For[*corev1.Pod](f, podResource)
		release := make(chan struct{})
		onAdd(t, pods, "billing", func(*corev1.Pod) { <-release })
		factories.For[*corev1.Node](f, nodeResource)
		factories.For[*corev1.Service](f, corev1.SchemeGroupVersion.WithResource("services"))
		defer start(t, f)()
		defer close(release)
		factories.For[*corev1.Secret](f, corev1.SchemeGroupVersion.WithResource("secrets"))
		time.Sleep(45 * time.Second)
		server.Compact()
		server.Pods.Create(pod("shop", "green"))
		synctest.Wait()

		r := reported(t, h, "/")
		var conditions []string
		for _, i := range r.Informers {
			conditions = append(conditions, i.Name+" "+i.Condition)
		}
		same(t, "conditions", strings.Join(conditions, ", "), "nodes/v1 failing, services/v1 failing, secrets/v1 not running, pods/v1 healthy")
		same(t, "the worst of them", r.Condition, "failing")
		i := r.Informers[3]
		if i.Objects != 3 || !i.Synced || !i.Running || i.ResourceVersion != "4" || i.Reflector.State != "watching" || i.Why != "" {
			t.Errorf("pods: %+v", i)
		}
		if h := i.Handlers[0]; h.Name != "billing" || h.Backlog != 2 || h.Callback != "OnAdd" || h.For != "45s" || h.Lag != "45s" {
			t.Errorf("handler: %+v", h)
		}
		same(t, "advice", r.Informers[0].Advice, "Give the account the verbs list and watch for this resource.")
		contains(t, r.Informers[0].Why, "It has not synced: forbidden (", "failures in a row, tries again in")
		var problems []string
		for _, p := range r.Problems {
			problems = append(problems, p.Name+" "+p.Condition)
		}
		same(t, "problems", strings.Join(problems, ", "), "nodes/v1 failing, services/v1 failing, pods/v1 stuck")
		contains(t, r.Problems[2].Text, "Handler billing has been in OnAdd of shop/", "for 45 seconds; 2 events wait for it, the oldest for 45 seconds.")

		contains(t, page(t, h, "/"),
			"4 informers with 3 objects", "2 failing", "1 not running", "1 healthy", "What is wrong",
			"nodes/v1 failing It has not synced: forbidden (", "does not serve this version of a built-in resource",
			"pods/v1 healthy watching 3 4 just now", "billing pods/v1 stuck 2 45 seconds OnAdd of shop/", "for 45 seconds")
	})
}

func TestPageWithoutProblems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newShop(pod("shop", "blue")).factory(t)
		onAdd(t, factories.For[*corev1.Pod](f, podResource), "billing", func(*corev1.Pod) {})
		defer start(t, f)()
		h := inspect.Handler(f, nil)
		r := reported(t, h, "/")
		if r.Condition != "healthy" || len(r.Problems) != 0 {
			t.Errorf("%+v", r)
		}
		text := page(t, h, "/")
		contains(t, text, "1 healthy", "billing pods/v1 idle 0 none none")
		if strings.Contains(text, "What is wrong") {
			t.Error(text)
		}
	})
}

// TestPageShowsNamespaces has a readable namespace and a refused one.
func TestPageShowsNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue"))
		server.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: func(a *sourcetest.Answer) {
			if a.Request.Namespace == "bank" {
				sourcetest.Refuse(http.StatusForbidden)(a)
			}
		}})
		f := server.factory(t, informer.WithNamespace("shop", "bank"))
		factories.For[*corev1.Pod](f, podResource)
		defer start(t, f)()
		h := inspect.Handler(f)
		r := reported(t, h, "/").Informers[0]
		if len(r.Streams) != 2 || r.Condition != "failing" {
			t.Errorf("%+v", r)
		}
		contains(t, r.Why, "It has not synced: namespace bank forbidden")
		contains(t, page(t, h, "/"), "in shop healthy watching 1 2 just now", "in bank failing waiting to try again: forbidden 0 none none none none")
	})
}

// TestPageShowsRelistsByCause: the server compacts its history while no watch is open.
func TestPageShowsRelistsByCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue"))
		f := server.factory(t)
		factories.For[*corev1.Pod](f, podResource)
		defer start(t, f)()
		for _, name := range []string{"a", "b"} {
			end := server.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: sourcetest.Fail(errors.New("no network"))})
			server.EndWatches()
			synctest.Wait()
			server.Pods.Create(pod("shop", name))
			server.Compact()
			time.Sleep(time.Minute)
			end()
			time.Sleep(5 * time.Minute)
		}
		h := inspect.Handler(f)
		same(t, "by cause", reported(t, h, "/").Informers[0].Reflector.RelistsBy, map[string]int{"expired": 2})
		contains(t, page(t, h, "/"), "2 expired")
	})
}

// TestNamesAreEscaped has names that a browser would run as scripts.
func TestNamesAreEscaped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const bad = `<script>alert("1")</script>`
		f := newShop(pod("shop", "blue")).factory(t)
		pods := factories.For[*corev1.Pod](f, podResource, informer.WithName(bad))
		onAdd(t, pods, bad, func(*corev1.Pod) {})
		defer start(t, f)()
		h := inspect.Handler(f, inspect.WithControllers(func() []inspect.Controller { return []inspect.Controller{namedController(bad)} }))
		for _, target := range []string{"/", "/?key=shop/blue", "/?key=%3Cscript%3Ealert(1)%3C/script%3E", "/?key=%22%3E%3Cscript%3E"} {
			w := get(h, target, browser)
			if body := w.Body.String(); strings.Contains(body, "<script") {
				t.Errorf("%s: a script is on the page", target)
			}
			contains(t, page(t, h, target), bad)
		}
	})
}

// namedController is a controller whose name, keys and errors are its value.
type namedController string

func (n namedController) StatusOf(object.Key) (where controller.KeyStatus, known bool) {
	return n.failing(), true
}

func (n namedController) failing() controller.KeyStatus {
	return controller.KeyStatus{KeyStatus: workqueue.KeyStatus[object.Key]{Key: object.Key{Namespace: string(n), Name: string(n)}}, Error: string(n)}
}

func (n namedController) Status() controller.Status {
	key := workqueue.KeyStatus[object.Key]{Key: object.Key{Name: string(n)}}
	return controller.Status{
		Name: string(n), Running: true, Synced: true, Failing: []controller.KeyStatus{n.failing()},
		LastError: string(n), LastErrorKey: string(n), RunError: string(n),
		Queue: workqueue.Status[object.Key]{Oldest: &key, Running: []workqueue.KeyStatus[object.Key]{key}},
	}
}

// TestContentsAreNotShown has a server with a secret in an annotation, and errors that quote it.
func TestContentsAreNotShown(t *testing.T) {
	const secret = "hunter2"
	for name, option := range map[string]informer.Option{
		"none": informer.WithName("pods"),
		"transform": informer.WithTransform(func(pod *corev1.Pod) (*corev1.Pod, error) {
			return nil, errors.New("can't read " + pod.Annotations["password"])
		}),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				blue := pod("shop", "blue")
				blue.Annotations, blue.Labels = map[string]string{"password": secret}, map[string]string{"password": secret}
				f := newShop(blue).factory(t)
				factories.For[*corev1.Pod](f, podResource, option)
				defer start(t, f)()
				if err := f.Informers()[0].Status().Reflector.LastError; (err != nil) != (name == "transform") || err != nil && !strings.Contains(err.Error(), secret) {
					t.Errorf("the status has the error %v", err)
				}
				h := inspect.Handler(f)
				for _, target := range []string{"/", "/?key=shop/blue"} {
					for _, accept := range []string{browser, "application/json"} {
						body := get(h, target, accept).Body.String()
						contains(t, body, "pods")
						if strings.Contains(body, secret) {
							t.Errorf("%s, %s: the page has the secret: %s", target, accept, body)
						}
						if name == "transform" {
							contains(t, body, "shop/blue: the transform returned an error; the log has it")
						}
					}
				}
			})
		})
	}
}

// TestPolicyAllowsOnlyTheStyleSheet: its hash is in the policy.
func TestPolicyAllowsOnlyTheStyleSheet(t *testing.T) {
	w := get(inspect.Handler(nil), "/", browser)
	_, rest, _ := strings.Cut(w.Body.String(), "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	sum := sha256.Sum256([]byte(style))
	contains(t, w.Header().Get("Content-Security-Policy"), "default-src 'none'", "style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"';", "frame-ancestors 'none'")
	if body := w.Body.String(); strings.Contains(body, "//") || strings.Contains(body, "url(") || strings.Contains(body, "@import") {
		t.Error("the page refers to another URL")
	}
	same(t, "caching", w.Header().Get("Cache-Control"), "no-store")
}

// TestRequests has requests with other responses than the page or JSON.
func TestRequests(t *testing.T) {
	h := inspect.Handler(nil)
	for target, want := range map[string]int{"/?format=xml": 400, "/?key=a/b/c": 400, "/?key=a/b/c&format=html": 400, "/?key=a/b": 200, "/any/path": 200} {
		if w := get(h, target, "*/*"); w.Code != want {
			t.Errorf("GET %s: status %d, want %d: %s", target, w.Code, want, w.Body)
		}
	}
	contains(t, page(t, h, "/?key=a/b/c"), `key "a/b/c": want "namespace/name" or "name"`, "no informers")
	if body := get(h, "/?refresh=10&key=a/b", browser).Body.String(); !strings.Contains(body, `http-equiv="refresh" content="10"`) {
		t.Error("the page with refresh=10 does not reload")
	}
	if body := get(h, "/?refresh=soon", browser).Body.String(); strings.Contains(body, "http-equiv") {
		t.Error("the page with refresh=soon reloads")
	}
	for method, want := range map[string]int{http.MethodHead: 200, http.MethodPost: 405, http.MethodDelete: 405} {
		req := httptest.NewRequest(method, "/", nil)
		req.RemoteAddr, req.Host = "[::1]:4711", "[::1]:80"
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		if w.Code != want || method == http.MethodHead && w.Body.Len() != 0 {
			t.Errorf("%s: status %d, want %d", method, w.Code, want)
		}
	}
}
