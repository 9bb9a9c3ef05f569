// SPDX-License-Identifier: Apache-2.0

package quantity

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

// TestParseIsBounded parses texts that take resource.ParseQuantity minutes.
func TestParseIsBounded(t *testing.T) {
	many := strings.Repeat("9", 30)
	for text, want := range map[string]string{
		"1e-99999999":            "1n",
		"-1e-99999999":           "-1n",
		"0.5E-2000000000":        "1n",
		many + "e-999999999":     "1n",
		"0e-99999999":            "0",
		"  7e-123456789 ":        "1n",
		many + "e99999999":       "",
		many + ".5e+2000000000":  "",
		strings.Repeat("0", 9e4): "0",
		"1e-2147483647":          "1n",
		"1e-9223372036854775807": "10", // ParseQuantity keeps 32 bits of an exponent
		"1e89999999999":          "1n",
	} {
		var q resource.Quantity
		switch err := ParseJSON([]byte(strconv.Quote(text)), &q); {
		case (err != nil) != (want == ""):
			t.Errorf("ParseJSON(%.40q) fails with %v, want %q", text, err, want)
		case err == nil && q.Cmp(resource.MustParse(want)) != 0:
			t.Errorf("ParseJSON(%.40q) = %v, want %s", text, q.AsDec(), want)
		}
	}
}

// TestParseAgreesWithParseQuantity parses random texts with exponents that ParseQuantity can
// compute.
func TestParseAgreesWithParseQuantity(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	digits := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte("0123456789"[r.IntN(10)])
		}
		return b.String()
	}
	suffixes := []string{"", "E", "Ei", "Ki", "n", "m", "k", "e", "e3", "E-3", "e+12", "x", "1e", "e1.5", "Ee", "i"}
	for range 20_000 {
		text := []string{"", "", "-", "+"}[r.IntN(4)] + digits(r.IntN(25))
		if r.IntN(2) == 0 {
			text += "." + digits(r.IntN(25))
		}
		if r.IntN(2) == 0 {
			text += []string{"e", "E"}[r.IntN(2)] + strconv.Itoa(r.IntN(800)-400)
		} else {
			text += suffixes[r.IntN(len(suffixes))]
		}
		got, err := Parse(text)
		want, wantErr := resource.ParseQuantity(text)
		if (err != nil) != (wantErr != nil) || err == nil && (got.Cmp(want) != 0 || got.Format != want.Format || got.String() != want.String()) {
			t.Fatalf("Parse(%q) = %v, %v, want %v, %v", text, got, err, want, wantErr)
		}
	}
}
