// SPDX-License-Identifier: Apache-2.0

package sourcetest_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

func TestDeleteHasPreconditions(t *testing.T) {
	server := sourcetest.New()
	pods := sourcetest.Serve[*corev1.Pod](server, podResource, "")
	events := watch(t.Context(), t, server, inShop+"?watch=1&resourceVersion=1")
	first := pods.Create(pod("shop", "a"))
	for what, tc := range map[string]struct{ query, body, want string }{
		"another uid":     {"", `{"preconditions":{"uid":"x"}}`, fmt.Sprintf(`409 Conflict Operation cannot be fulfilled on Pod "a": the UID in the precondition (x) does not match the UID in record (%s). The object might have been deleted and then recreated`, first.UID)},
		"another version": {"", `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"resourceVersion":"1"}}`, `409 Conflict Operation cannot be fulfilled on Pod "a": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (2). The object might have been modified`},
		"dryRun":          {"?dryRun=All", "", "200"},
		"dryRun in body":  {"", `{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1","dryRun":["All"]}`, "200"},
		"policy":          {"?propagationPolicy=Some", "", `422 Invalid DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: …`},
		"no options":      {"", `{"kind":"Pod","apiVersion":"v1"}`, `400 BadRequest no kind "Pod" is registered for version "v1" in …`},
	} {
		expect(t, what, call(t, server, "DELETE", inShop+"/a"+tc.query, tc.body), tc.want)
	}
	gone := call(t, server, "DELETE", inShop+"/a?propagationPolicy=Foreground&gracePeriodSeconds=0", "")
	want := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":"a","kind":"pods","uid":%q}}`, first.UID)
	if gone.raw != want {
		t.Errorf("DELETE answers %s, want %s", gone.raw, want)
	}
	expect(t, "again", call(t, server, "DELETE", inShop+"/a", ""), `404 NotFound pods "a" not found`)
	events.want("ADDED a 2", "DELETED a 3")
}

func TestFinalizersDelayDeletion(t *testing.T) {
	server := sourcetest.New()
	pods := sourcetest.Serve[*corev1.Pod](server, podResource, "")
	events := watch(t.Context(), t, server, inShop+"?watch=1&resourceVersion=1")
	pods.Create(pod("shop", "a", func(p *corev1.Pod) { p.Finalizers = []string{"samples.io/one", "samples.io/two"} }))
	deleted := call(t, server, "DELETE", inShop+"/a", "")
	if deleted.meta.DeletionTimestamp == nil || *deleted.meta.DeletionGracePeriodSeconds != 0 || deleted.meta.Generation != 2 || deleted.meta.ResourceVersion != "3" {
		t.Error(deleted.raw)
	}
	expect(t, "again", call(t, server, "DELETE", inShop+"/a", ""), "200 a at 3")
	const merge = "application/merge-patch+json"
	patch := func(finalizers string) written {
		return call(t, server, "PATCH", inShop+"/a", `{"metadata":{"deletionTimestamp":null,"finalizers":`+finalizers+`}}`, "Content-Type", merge)
	}
	expect(t, "a new one", patch(`["samples.io/one","samples.io/two","samples.io/three"]`), `422 Invalid Pod "a" is invalid: metadata.finalizers: Forbidden: `+
		`no new finalizers can be added if the object is being deleted, found new finalizers []string{"samples.io/three"}`)
	expect(t, "one left", patch(`["samples.io/two"]`), "200 a at 4")
	stored, _ := pods.Get("shop", "a")
	if stored.DeletionTimestamp == nil {
		t.Error("a patch removed the deletionTimestamp")
	}
	stored.Finalizers = nil
	if last := call(t, server, "PUT", inShop+"/a?dryRun=All", stored); last.code != 200 || len(pods.All()) != 1 {
		t.Error(last.raw)
	}
	if last := call(t, server, "PUT", inShop+"/a", stored); last.code != 200 || last.meta.UID != stored.UID {
		t.Error(last.raw)
	}
	expect(t, "gone", call(t, server, "GET", inShop+"/a", nil), `404 NotFound pods "a" not found`)
	events.want("ADDED a 2", "MODIFIED a 3", "MODIFIED a 4", "DELETED a 5")
}

func TestDeleteCollectionDeletesSelected(t *testing.T) {
	server := sourcetest.New()
	pods := sourcetest.Serve[*corev1.Pod](server, podResource, "")
	for _, name := range []string{"a", "b", "c"} {
		pods.Create(pod("shop", name, label("color", "red")))
		pods.Create(pod("else", name, label("color", "red")))
	}
	pods.Update(pod("shop", "b", label("color", "blue")))
	held := pods.Update(pod("shop", "c", label("color", "red"), func(p *corev1.Pod) { p.Finalizers = []string{"samples.io/hold"} }))
	names := func() (names []string) {
		for _, p := range pods.All() {
			names = append(names, p.Namespace+"/"+p.Name)
		}
		return names
	}
	if dry := call(t, server, "DELETE", inShop+"?labelSelector=color%3Dred&dryRun=All", ""); dry.code != 200 || len(names()) != 6 {
		t.Errorf("%s; %v", dry.raw, names())
	}
	if deleted := call(t, server, "DELETE", inShop+"?labelSelector=color%3Dred", ""); deleted.code != 200 {
		t.Error(deleted.raw)
	}
	if got := fmt.Sprint(names()); got != "[else/a else/b else/c shop/b shop/c]" {
		t.Error(got)
	}
	if now, _ := pods.Get("shop", held.Name); now.DeletionTimestamp == nil {
		t.Error("the object with a finalizer has no deletionTimestamp")
	}
}
