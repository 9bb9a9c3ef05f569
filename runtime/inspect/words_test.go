// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"testing"
	"time"
)

func TestWords(t *testing.T) {
	now := time.Now()
	for d, want := range map[time.Duration]string{
		0: "less than 1 ms", time.Millisecond: "1 ms", 999 * time.Millisecond: "999 ms", time.Second: "1 second", 99 * time.Second: "99 seconds",
		100 * time.Second: "1 minute", 99 * time.Minute: "99 minutes", 100 * time.Minute: "1 hour", 47 * time.Hour: "47 hours", 48 * time.Hour: "2 days",
		3000 * 24 * time.Hour: "3,000 days", -time.Second: "less than 1 ms",
	} {
		if got := inWords(d); got != want {
			t.Errorf("inWords(%v) = %q, want %q", d, got, want)
		}
	}
	for at, want := range map[time.Time]string{{}: "never", now: "just now", now.Add(time.Minute): "just now", now.Add(-time.Minute): "60 seconds ago"} {
		if got := ago(at, now); got != want {
			t.Errorf("ago(%v) = %q, want %q", at, got, want)
		}
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", -100: "-100", 1234567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %q, want %q", n, got, want)
		}
	}
	for text, want := range map[string]string{"": "", "über alles": "Über alles.", "done.": "Done."} {
		if got := sentence(text); got != want {
			t.Errorf("sentence(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestEveryConditionHasARank: without a rank, a condition would not count.
func TestEveryConditionHasARank(t *testing.T) {
	for _, c := range []condition{healthy, idle, busy, waiting, stopped, absent, starting, behind, keysFail, recovering, stuck, failing} {
		if c.rank() < 0 {
			t.Errorf("%s has no rank", c)
		}
	}
}
