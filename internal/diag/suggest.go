// SPDX-License-Identifier: Apache-2.0

package diag

import "strings"

// Closest returns the candidate that got most likely misspells, and false if none is near: up to a
// third of the letters may be wrong, and at most three. Case doesn't count.
func Closest(got string, candidates []string) (string, bool) {
	limit := max(1, min(3, len(got)/3))
	lower := strings.ToLower(got)
	best, bestDistance := "", limit+1
	for _, candidate := range candidates {
		// The difference in length is the least number of insertions.
		if d := len(candidate) - len(got); d >= bestDistance || -d >= bestDistance {
			continue
		}
		if d := distance(lower, strings.ToLower(candidate)); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best, best != ""
}

// Suggestion returns the X of the message's ", did you mean X?", or "".
func (d Diagnostic) Suggestion() string {
	_, rest, ok := strings.Cut(d.Message, didYouMean)
	if !ok {
		return ""
	}
	suggestion, _, ok := strings.Cut(rest, "?")
	if !ok {
		return ""
	}
	return suggestion
}

const didYouMean = ", did you mean "

// DidYouMean returns ", did you mean X?" for the closest candidate, or "" if none is near.
func DidYouMean(got string, candidates []string) string {
	if best, ok := Closest(got, candidates); ok {
		return didYouMean + best + "?"
	}
	return ""
}

// distance counts the letters to insert, remove, change or swap with their neighbour to get from a
// to b.
func distance(a, b string) int {
	before, previous, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, previous, row = previous, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(previous[j]+1, row[j-1]+1, previous[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
