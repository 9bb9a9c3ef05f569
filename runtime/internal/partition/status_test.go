// SPDX-License-Identifier: Apache-2.0

package partition

import (
	"testing"
	"time"
)

func TestRuns(t *testing.T) {
	for _, tc := range []struct {
		numbers []int
		want    string
	}{{nil, ""}, {[]int{3}, "3"}, {[]int{0, 1}, "0-1"}, {[]int{3, 5, 6, 7, 9}, "3, 5-7, 9"}, {[]int{0, 2, 3}, "0, 2-3"}} {
		if got := Runs(tc.numbers); got != tc.want {
			t.Errorf("Runs(%v) = %q, want %q", tc.numbers, got, tc.want)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestHealthyNamesUnownedBuckets: those over the limit, with the time and the last owner, whether
// the table has taken it out already or not.
func TestHealthyNamesUnownedBuckets(t *testing.T) {
	s := Status{LeaseDuration: 15 * time.Second, Buckets: make([]BucketStatus, 8)}
	check := func(want string) {
		t.Helper()
		if got := text(s.Healthy()); got != want {
			t.Errorf("Healthy() = %q\nwant        %q", got, want)
		}
	}
	check("")
	s.Buckets[1] = BucketStatus{Owner: "pod-1", UnownedFor: 30 * time.Second}
	s.Buckets[7] = BucketStatus{UnownedFor: 30 * time.Second}
	check("")
	s.Buckets[2] = BucketStatus{Owner: "pod-1", UnownedFor: 31 * time.Second}
	check("nobody has worked on 1 of 8 buckets for longer than 30s: bucket 2 for 31s, last owned by pod-1")
	s.Buckets[3] = BucketStatus{LastOwner: "pod-1", UnownedFor: 40*time.Second + time.Millisecond}
	s.Buckets[6] = BucketStatus{UnownedFor: time.Minute}
	check("nobody has worked on 3 of 8 buckets for longer than 30s: bucket 6 for 1m0s, since this process began; buckets 2-3 for 40s, last owned by pod-1")
}

func TestJoined(t *testing.T) {
	for _, tc := range []struct {
		status Status
		want   string
	}{
		{Status{}, "this process has not joined the ring"},
		{Status{Identity: "a", State: "joining"}, "this process has not joined the ring"},
		{Status{Identity: "a", State: "joining", Members: []MemberStatus{{Identity: "b", State: "active"}}}, "this process has not joined the ring"},
		{Status{Identity: "a", State: "joining", Members: []MemberStatus{{Identity: "a", State: "joining"}}}, ""},
		{Status{Identity: "a", State: "active", Members: []MemberStatus{{Identity: "a", State: "active"}}}, ""},
		{Status{Identity: "a", State: "active", Members: []MemberStatus{{Identity: "a", State: "expired"}}}, "this process has not joined the ring"},
		{Status{Identity: "a", State: "leaving", Members: []MemberStatus{{Identity: "a", State: "leaving"}}}, "this process is leaving the ring"},
		{Status{Identity: "a", State: "lost"}, "this process has lost its lease"},
	} {
		if got := text(tc.status.Joined()); got != tc.want {
			t.Errorf("%+v: Joined() = %q, want %q", tc.status, got, tc.want)
		}
	}
}
