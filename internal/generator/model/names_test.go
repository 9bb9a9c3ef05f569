// SPDX-License-Identifier: Apache-2.0

package model

import "testing"

func TestUnexportedNames(t *testing.T) {
	for name, want := range map[string]string{
		"Widget": "widget", "APIService": "apiService", "CSIDriver": "csiDriver", "VPA": "vpa", "A": "a", "IPAddress": "ipAddress",
		"V2Thing": "v2Thing", "Ärger": "ärger",
	} {
		if got := (&Type{Name: name}).Unexported(); got != want {
			t.Errorf("%q is unexported %q, want %q", name, got, want)
		}
	}
}
