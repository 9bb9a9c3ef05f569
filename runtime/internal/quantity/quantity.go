// SPDX-License-Identifier: Apache-2.0

// Package quantity parses quantities in a time that depends only on the length of the text.
// resource.ParseQuantity computes the power of ten of an exponent: "1e-99999999" takes it minutes,
// and any user allowed to write an object of a custom resource may write such a text.
package quantity

import (
	"errors"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// maxExponent is the largest exponent of a number with more digits than an int64 has. Numbers with
// fewer digits may have any: for them the power isn't computed.
const (
	maxExponent = 1000
	int64Digits = 18
)

var errTooLarge = errors.New("a quantity has too many digits for its large exponent")

// Parse is resource.ParseQuantity with one exception: more than 18 characters (digits, sign and
// point) before an exponent over 1,000 are an error.
func Parse(text string) (resource.Quantity, error) {
	text, err := boundExponent(text)
	if err != nil {
		return resource.Quantity{}, err
	}
	return resource.ParseQuantity(text)
}

// boundExponent returns a text of the same quantity with an exponent that is quickly computed. A
// quantity is rounded up to at least 1n, so all exponents that lead to less are equal.
func boundExponent(text string) (string, error) {
	at := strings.LastIndexAny(text, "eE")
	if at < 0 {
		return text, nil
	}
	number, err := strconv.ParseInt(text[at+1:], 10, 64)
	if err != nil {
		return text, nil // a suffix, such as E or Ei, or unparsable
	}
	exponent := int64(int32(number)) // as ParseQuantity reads it
	switch minExponent := -int64(at) - 20; {
	case exponent < minExponent:
		return text[:at+1] + strconv.FormatInt(minExponent, 10), nil
	case exponent > maxExponent && at > int64Digits:
		return "", errTooLarge
	}
	return text, nil
}

// ParseJSON sets q to the quantity in a JSON string or number, as its UnmarshalJSON does.
func ParseJSON(raw []byte, q *resource.Quantity) error {
	text := string(raw)
	if text == "null" {
		return q.UnmarshalJSON(raw)
	}
	if len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' {
		text = text[1 : len(text)-1]
	}
	parsed, err := Parse(strings.TrimSpace(text))
	if err != nil {
		return err
	}
	*q = parsed
	return nil
}
