// SPDX-License-Identifier: Apache-2.0

package templates

import "testing"

func BenchmarkRender(b *testing.B) {
	out := names()
	for b.Loop() {
		if _, err := Render(out); err != nil {
			b.Fatal(err)
		}
	}
}
