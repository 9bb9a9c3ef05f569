// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"errors"
	"testing"

	"github.com/informer-gen/informer-gen/runtime/object"
)

func TestMutationSaysWhatHappened(t *testing.T) {
	m := Mutation{
		Informer: "pods/v1", Key: object.Key{Namespace: "shop", Name: "blue"}, ResourceVersion: "17",
		Path: ".spec.nodeName", Before: `"a"`, After: `"b"`, Handler: "queue",
	}
	want := `pods/v1: cached object shop/blue at resourceVersion "17" was modified during a callback of handler "queue": ` +
		`.spec.nodeName was "a" and is now "b"; modify a copy made by DeepCopyObject`
	if got := m.Error(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	m.Handler = ""
	want = `pods/v1: cached object shop/blue at resourceVersion "17" was modified: ` +
		`.spec.nodeName was "a" and is now "b"; modify a copy made by DeepCopyObject`
	if got := m.Error(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestEnvironment(t *testing.T) {
	for value, want := range map[string]bool{"": false, "false": false, "0": false, "yes": false, "true": true, "1": true, "TRUE": true} {
		t.Setenv("KUBE_CACHE_MUTATION_DETECTOR", value)
		if got := FromEnvironment(); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}

func TestPanicPanicsWithTheMutation(t *testing.T) {
	m := Mutation{Path: ".spec"}
	defer func() {
		err, _ := recover().(error)
		var got Mutation
		if !errors.As(err, &got) || got != m {
			t.Errorf("got %v", err)
		}
	}()
	New("pods", Panic).report(m)
}
