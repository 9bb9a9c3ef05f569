// SPDX-License-Identifier: Apache-2.0

package object

import "testing"

// FuzzParseKey: what is accepted is written as it was read, and no two texts are one key.
func FuzzParseKey(f *testing.F) {
	for _, text := range []string{"", "/", "a", "a/b", "/b", "a/", "a/b/c", "a//b", "\x00/\xff"} {
		f.Add(text, "a", "b")
	}
	f.Fuzz(func(t *testing.T, text, namespace, name string) {
		if key, err := ParseKey(text); err == nil && (key.String() != text || key.Name == "") {
			t.Errorf("%q is read as %q in %q", text, key.Name, key.Namespace)
		}
		key := Key{Namespace: namespace, Name: name}
		if again, err := ParseKey(key.String()); err == nil && again != key && namespace != "" {
			t.Errorf("%+v is read as %+v", key, again)
		}
	})
}
