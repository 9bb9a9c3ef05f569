// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// TestMain lets the test binary be the soak's server.
func TestMain(m *testing.M) {
	if !playServer(context.Background()) {
		os.Exit(m.Run())
	}
}

// TestSoakEndsWithAVerdict runs a short soak, gentle enough for a busy machine, with one fault
// after the other.
func TestSoakEndsWithAVerdict(t *testing.T) {
	var out strings.Builder
	err := run(t.Context(), []string{"--minutes", "0.1", "--rate", "50", "--informers", "6", "--faults", "600ms"}, &out, io.Discard)
	t.Log(out.String())
	if err != nil {
		t.Fatal(err)
	}
}

func TestWrongOptionsAreRefused(t *testing.T) {
	for _, args := range []string{"--minutes 0", "--rate -1", "--informers 0", "--faults -1s", "now"} {
		if err := run(t.Context(), strings.Fields(args), io.Discard, io.Discard); err == nil {
			t.Errorf("run(%s) returned no error", args)
		}
	}
}

// TestChecker: a handler notices events in an invalid order.
func TestChecker(t *testing.T) {
	at := func(version string) *corev1.ConfigMap {
		m := &corev1.ConfigMap{}
		m.Name, m.UID, m.ResourceVersion = "blue", "u", version
		return m
	}
	first, second := at("5"), at("7")
	for name, events := range map[string]func(*checker){
		"update without an add": func(c *checker) { c.OnUpdate(first, second) },
		"add twice":             func(c *checker) { c.OnAdd(first, true); c.OnAdd(second, false) },
		"back":                  func(c *checker) { c.OnAdd(second, true); c.OnUpdate(second, first) },
		"another old object":    func(c *checker) { c.OnAdd(first, true); c.OnUpdate(at("5"), second) },
		"delete without an add": func(c *checker) {
			c.OnDelete(informer.Deleted[*corev1.ConfigMap]{Key: object.KeyOf(first), Object: first})
		},
	} {
		problems := &problemList{}
		events(&checker{calls: new(atomic.Int64), problems: problems, live: map[object.Key]*corev1.ConfigMap{}})
		if problems.err() == nil {
			t.Errorf("the checker has not noticed: %s", name)
		}
	}
}
