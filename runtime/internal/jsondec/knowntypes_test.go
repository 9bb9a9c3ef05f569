// SPDX-License-Identifier: Apache-2.0

package jsondec

import (
	"fmt"
	"testing"
	"time"
)

// TestDaysOfEveryDate holds dates against package time, among them those that there aren't.
func TestDaysOfEveryDate(t *testing.T) {
	for year := range 10_000 {
		if year > 10 && year < 1580 || year > 2500 && year < 9990 {
			continue
		}
		for month := range 14 {
			for day := range 33 {
				text := fmt.Sprintf("%04d-%02d-%02d", year, month, day)
				days, ok := daysOf([]byte(text + "T"))
				want, err := time.Parse(time.DateOnly, text)
				if ok != (err == nil) || ok && days*24*3600 != want.Unix() {
					t.Fatalf("%s: got %d days, %v; want %d seconds, %v", text, days, ok, want.Unix(), err)
				}
			}
		}
	}
	for _, text := range []string{"2026-01-0xT", "2026-01x01T", "2026x01-01T", "20x6-01-01T", "x026-01-01T", "2026-01-01 ", "2026-1-001T"} {
		if _, ok := daysOf([]byte(text)); ok {
			t.Errorf("%q is taken for a date", text)
		}
	}
}

func BenchmarkDays(b *testing.B) {
	text := []byte("2026-11-20T")
	for b.Loop() {
		if _, ok := daysOf(text); !ok {
			b.Fatal("not a date")
		}
	}
}
