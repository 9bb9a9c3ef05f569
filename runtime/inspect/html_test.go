// SPDX-License-Identifier: Apache-2.0

package inspect

import "testing"

func TestElements(t *testing.T) {
	for _, tc := range []struct{ got, want markup }{
		{el("p", text("1 < 2 & 'so' \"on\"")), `<p>1 &lt; 2 &amp; &#39;so&#39; &#34;on&#34;</p>`},
		{el("a", text("x"), attr("href", `"><script>`), class("b c")), `<a href="&#34;&gt;&lt;script&gt;" class="b c">x</a>`},
		{el("p", attribute(""), markup("")), `<p></p>`},
		{void("input", attr("value", "a b")), `<input value="a b"/>`},
		{text("a\x00\x1b\xffb\n"), "a\uFFFD\uFFFD\uFFFDb\n"},
		{join(", ", "", "a", "", "b"), "a, b"},
	} {
		if tc.got != tc.want {
			t.Errorf("%s\nwant %s", tc.got, tc.want)
		}
	}
}
