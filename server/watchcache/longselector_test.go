// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
)

// TestLongSelectorsSelectTheSame compares selectors of many requirements with apimachinery's.
func TestLongSelectorsSelectTheSame(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	forms := []string{"%s", "!%s", "%s=%d", "%s==%d", "%s!=%d", "%s in (%d,%d,2)", "%s notin (%d,%d)", "%s>%d", "%s<%d"}
	matched := 0
	for range 500 {
		// few labels and weak requirements, so that some objects match
		var parts []string
		for range fewRequirements + 1 + random.IntN(4) {
			form := forms[random.IntN(len(forms))]
			if random.IntN(8) > 0 {
				form = []string{"%s!=%d", "%s notin (%d,%d)"}[random.IntN(2)]
			}
			args := []any{fmt.Sprint("k", random.IntN(40)), random.IntN(4), random.IntN(4)}
			parts = append(parts, fmt.Sprintf(form, args[:1+strings.Count(form, "%d")]...))
		}
		s, err := labels.Parse(strings.Join(parts, ","))
		if err != nil {
			t.Fatal(err)
		}
		long, ok := shortened(s).(*longSelector)
		if !ok {
			t.Fatalf("%s is not shortened", s)
		}
		for range 20 {
			set := map[string]string{}
			for k := range 40 {
				if random.IntN(2) > 0 {
					set[fmt.Sprint("k", k)] = []string{"0", "1", "2", "3", "4", "5", "x"}[random.IntN(7)]
				}
			}
			pairs := PairsOf(set)
			if got, want := long.Matches(&pairs), s.Matches(labels.Set(set)); got != want {
				t.Fatalf("%s matches %v: %v, want %v", s, set, got, want)
			} else if got {
				matched++
			}
		}
	}
	if matched < 100 {
		t.Errorf("only %d objects matched", matched)
	}
}

// TestLabelsCostNoProduct shows that a list with a long selector doesn't look at all of its
// requirements for each object, nor for each requirement.
func TestLabelsCostNoProduct(t *testing.T) {
	const parts = 10_000
	var exact, not []string
	set := map[string]string{}
	for i := range parts {
		exact = append(exact, fmt.Sprintf("k%d=v", i))
		not = append(not, fmt.Sprintf("k%d!=w", i))
		set[fmt.Sprint("k", i)] = "v"
	}
	large := PairsOf(set)
	for _, text := range []string{strings.Join(exact, ","), strings.Join(not, ","), strings.Repeat("a!=c,", parts) + "a!=c"} {
		s, err := labels.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		counted := &countingSelector{Selector: s}
		c, err := New(Config{Storage: &script{}})
		if err != nil {
			t.Fatal(err)
		}
		objects := []*Object{{Key: "large", Version: 1, Labels: large}, {Key: "small", Version: 2, Labels: Pairs{{"a", "b"}}}}
		c.replace(objects, 10, false)
		if _, err := c.List(t.Context(), ListOptions{Filter: Filter{Labels: counted}}); err != nil {
			t.Fatal(err)
		}
		if counted.matches+counted.exact > maxLabels {
			t.Errorf("%.20s…: the selector was asked %d times about objects and %d times about labels", text, counted.matches, counted.exact)
		}
	}
	for _, p := range large[:10] {
		if value, ok := large.Lookup(p.Name); !ok || value != p.Value {
			t.Errorf("%s is %q", p.Name, value)
		}
	}
	if _, ok := large.Lookup("k"); ok {
		t.Error("there is a label k")
	}
}

// countingSelector counts the calls that look at all requirements.
type countingSelector struct {
	labels.Selector
	matches, exact int
}

func (s *countingSelector) Matches(l labels.Labels) bool {
	s.matches++
	return s.Selector.Matches(l)
}

func (s *countingSelector) RequiresExactMatch(label string) (string, bool) {
	s.exact++
	return s.Selector.RequiresExactMatch(label)
}
