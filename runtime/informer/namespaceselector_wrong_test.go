// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
)

// TestSelectingInformerRefuses has wrong options, and calls for informers without a selector.
func TestSelectingInformerRefuses(t *testing.T) {
	everything, nothing := labels.Everything(), labels.Nothing()
	prod, err := labels.Parse("env in (prod, live), !old")
	noError(t, err)
	const both = " was given too; give WithNamespace or WithNamespaceSelector, not both"
	for text, opts := range map[string][]informer.Option{
		`WithNamespaceSelector: the selector is nil; WithNamespace("") reads all namespaces`:                                 {informer.WithNamespaceSelector(nil)},
		`WithNamespaceSelector: the selector matches every namespace; WithNamespace("") reads all of them, with one request`: {informer.WithNamespaceSelector(everything)},
		"WithNamespaceSelector: the selector matches no namespace":                                                           {informer.WithNamespaceSelector(nothing)},
		"WithNamespaceSelector: WithNamespace" + both:                                                                        {informer.WithNamespace("north"), inProduction},
		"WithNamespace: WithNamespaceSelector" + both:                                                                        {inProduction, informer.WithNamespace("")},
		"WithNamespaceSelector: a cluster-scoped kind has no namespaces":                                                     {factories.WithClusterScope(), inProduction},
		"WithClusterScope: WithNamespaceSelector was given too; a cluster-scoped kind has no namespaces":                     {inProduction, factories.WithClusterScope()},
		"WithLabelSelector: the selector matches no object":                                                                  {informer.WithLabelSelector(nothing)},
		"WithFieldSelector: the selector matches no object":                                                                  {informer.WithFieldSelector(fields.Nothing())},
		"WithCheckpoint: objects of secrets would be written":                                                                nil,
	} {
		f := newRealm("").Factory(t)
		if opts == nil {
			factories.For[*corev1.Secret](f, corev1.SchemeGroupVersion.WithResource("secrets"), inProduction, informer.WithCheckpoint(t.TempDir()))
		} else {
			podsOf(f, opts...)
		}
		if err := f.Start(t.Context()); err == nil || !strings.Contains(err.Error(), ": "+text) {
			t.Errorf("Start() = %v, want %s", err, text)
		}
	}
	server := newRealm("")
	_, err = informer.New(server.Source(t), inProduction)
	want(t, err, "informer.New: WithNamespaceSelector: not an option of informer.New; use it with factories.New or factories.For")

	f := server.Factory(t, inProduction)
	pods := podsOf(f, informer.WithNamespaceSelector(prod))
	const refused = "the informer reads the namespaces that match its WithNamespaceSelector; change the namespace's labels, or make the informer with WithNamespace"
	want(t, pods.AddNamespace("north"), `informer pods/v1 in namespaces with labels "env in (live,prod),!old": AddNamespace: `+refused)
	want(t, podsOf(f).RemoveNamespace(t.Context(), "north"), "informer pods/v1: RemoveNamespace: "+refused)
}

// TestKindWithSelector gives the option to one kind, and to all but one.
func TestKindWithSelector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRealm("!north south", pod("north", "a", ""), pod("south", "b", ""))
		options := factories.KindOptions[*corev1.Pod]{Options: []informer.Option{inProduction}}
		one := r.Factory(t, informer.WithNamespace("south"), factories.WithKind(podResource, options))
		others := r.Factory(t, inProduction, factories.WithKind(podResource, factories.KindOptions[*corev1.Pod]{Namespaces: []string{"south"}}))
		for want, f := range map[string]*factories.Factory{"north/a": one, "south/b": others} {
			pods := podsOf(f)
			run(t, f)
			same(t, "objects", informertest.Names(pods), []string{want})
			shutdown(t, f)
		}
		podsOf(one, factories.WithClusterScope())
		want(t, one.Start(t.Context()), "informer factory: Start: factories.For pods/v1: WithClusterScope: WithKind sets namespaces; a cluster-scoped kind has no namespaces")
	})
}
