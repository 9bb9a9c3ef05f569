// SPDX-License-Identifier: Apache-2.0

package object

import "testing"

// FuzzParseKey checks that accepted text survives a round trip, and that no two texts are one key.
func FuzzParseKey(f *testing.F) {
	for _, text := range []string{"", "/", "a", "a/b", "/b", "a/", "a/b/c", "a//b", "\x00/\xff"} {
		f.Add(text, "a", "b")
	}
	f.Fuzz(func(t *testing.T, text, namespace, name string) {
		if key, err := ParseKey(text); err == nil && (key.String() != text || key.Name == "") {
			t.Errorf("ParseKey(%q) = name %q, namespace %q", text, key.Name, key.Namespace)
		}
		key := Key{Namespace: namespace, Name: name}
		if again, err := ParseKey(key.String()); err == nil && again != key && namespace != "" {
			t.Errorf("ParseKey(%q) = %+v, want %+v", key.String(), again, key)
		}
	})
}
