// SPDX-License-Identifier: Apache-2.0

package names

import "testing"

func TestSuggestExportedUpperCasesTheFirstLetter(t *testing.T) {
	for name, want := range map[string]string{"byNode": ", did you mean ByNode?", "ärger": ", did you mean Ärger?", "": "", "1st": "", "a-b": ""} {
		if got := SuggestExported(name); got != want {
			t.Errorf("SuggestExported(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestNamesOfGroupsVersionsAndResources(t *testing.T) {
	for name, want := range map[string][3]bool{ // of a group, of a version, of a resource
		"":                    {true, false, false},
		"samples.example.com": {true, false, false},
		"v1":                  {true, true, true},
		"v1-alpha":            {true, false, true},
		"V1":                  {false, false, false},
	} {
		if got := [3]bool{IsGroup(name), IsVersion(name), IsResource(name)}; got != want {
			t.Errorf("IsGroup, IsVersion, IsResource of %q = %v, want %v", name, got, want)
		}
	}
}

func TestLooksLikeVersion(t *testing.T) {
	for name, want := range map[string]bool{"v1": true, "v2beta10": true, "v1alpha": false, "v": false, "v1gamma1": false, "xv1": false} {
		if LooksLikeVersion(name) != want {
			t.Errorf("LooksLikeVersion(%q) = %v, want %v", name, !want, want)
		}
	}
}

func TestFolderAvoidsSpecialNames(t *testing.T) {
	for name, want := range map[string]string{
		"Apps": "apps", "v1alpha1": "v1alpha1", "Type": "typeapi", "internal": "internalapi", "String": "stringapi", "Main": "mainapi",
		"A_test": "atestapi", "Init": "initapi",
	} {
		if got := Folder(name); got != want {
			t.Errorf("Folder(%q) = %q, want %q", name, got, want)
		}
	}
}
