// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// TestNewIn reads namespaces from Sources with different selectors, and adds and removes
// namespaces.
func TestNewIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("north", "a", ""), pod("south", "b", ""), pod("west", "c", ""))
		client := server.Client(t)
		in := func(namespace string) (source.Source[*corev1.Pod], error) {
			opts := source.Options{Namespace: namespace}
			if namespace == "south" {
				opts.LabelSelector = "none=such"
			}
			return source.New[*corev1.Pod](client, corev1.SchemeGroupVersion.WithResource("pods"), opts)
		}
		pods, err := informer.NewIn(in, []string{"north", "south"}, informer.WithLogger(discard))
		noError(t, err)
		start(t, pods)
		same(t, "objects", informertest.Names(pods), []string{"north/a"})
		noError(t, errors.Join(pods.AddNamespace("west"), pods.WaitForCacheSync(t.Context())))
		same(t, "objects", informertest.Names(pods), []string{"north/a", "west/c"})
		noError(t, pods.RemoveNamespace(t.Context(), "north"))
		same(t, "objects", informertest.Names(pods), []string{"west/c"})
	})
}

func TestNewInErrors(t *testing.T) {
	none := func(string) (source.Source[*corev1.Pod], error) { return nil, nil }
	failing := func(string) (source.Source[*corev1.Pod], error) { return nil, errors.New("not today") }
	for _, test := range []struct {
		in         func(string) (source.Source[*corev1.Pod], error)
		namespaces []string
		want       string
	}{
		{nil, []string{"a"}, "the function that returns a Source is nil"},
		{none, []string{"a"}, `the source of namespace "a" is nil`},
		{failing, []string{"a"}, "not today"},
		{none, []string{""}, "all namespaces"},
		{none, nil, "nothing to read"},
	} {
		if _, err := informer.NewIn(test.in, test.namespaces); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("NewIn with namespaces %q = %v, want %s", test.namespaces, err, test.want)
		}
	}
}
