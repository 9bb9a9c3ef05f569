// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
)

// FuzzLongSelector compares selectors of clients, made long, with apimachinery's.
func FuzzLongSelector(f *testing.F) {
	for _, text := range []string{"", "a", "!a", "a=1,a!=2", "a in (x,y),b notin (z)", "a>1,a<5", "a>9223372036854775807", "a in ()", "a==b,a=c", "x/y=z", "a notin (,)"} {
		f.Add(text, "a=1,b=z")
		f.Add(text, "a=3")
	}
	f.Fuzz(func(t *testing.T, text, of string) {
		s, err := labels.Parse(text)
		if err != nil {
			return
		}
		all, _ := s.Requirements()
		if len(all) == 0 {
			return
		}
		for len(all) <= fewRequirements {
			all = append(all, all...)
		}
		long := shortened(labels.NewSelector().Add(all...))
		set := labels.Set{}
		for part := range strings.SplitSeq(of, ",") {
			name, value, _ := strings.Cut(part, "=")
			set[name] = value
		}
		pairs := PairsOf(set)
		if got, want := long.Matches(&pairs), s.Matches(set); got != want {
			t.Errorf("%q selects %v: %v, want %v", text, set, got, want)
		}
	})
}
