// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

func TestAudit(t *testing.T) {
	for _, test := range []struct {
		name string
		// Writes are member@epoch:state. Those in parentheses come while the one before is under
		// way.
		writes string
		want   []string
	}{
		{"one member", "a@1:begun a@1:done", nil},
		{"another one", "a@1:begun b@2:begun b@2:done", nil},
		{"it comes back", "a@1:begun b@2:begun a@3:done", nil},
		{"an old epoch", "a@1:begun b@2:begun a@1:done", []string{"a at epoch 1 of bucket 7 writes to team-01 after b at epoch 2 of bucket 7"}},
		{"two at one epoch", "a@1:begun b@1:done", []string{"b at epoch 1 of bucket 7 writes to team-01 after a at epoch 1 of bucket 7"}},
		{"two write at a time", "a@1:begun ( b@2:begun ) b@2:done", []string{"b at epoch 2 of bucket 7 writes to team-01 while a at epoch 1 of bucket 7 does"}},
		{"two answers", "a@1:done a@1:done", []string{"a at epoch 1 of bucket 7 answers request 1 of team-01 once more"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := newAudit()
			a.ask("team-01", 1)
			var during []string // the writes while the server has a request
			var play func(writes []string)
			handler := a.wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				writes := during
				during = nil
				play(writes)
				w.WriteHeader(http.StatusOK)
			}))
			play = func(writes []string) {
				for n := 0; n < len(writes); n++ {
					by, state, _ := strings.Cut(writes[n], ":")
					member, epoch, _ := strings.Cut(by, "@")
					if n+1 < len(writes) && writes[n+1] == "(" {
						end := slices.Index(writes, ")")
						during, n = writes[n+2:end], end
					}
					handler.ServeHTTP(httptest.NewRecorder(), answerBy(member, epoch, state))
				}
			}
			play(strings.Fields(test.writes))
			if _, got := a.found(); !slices.Equal(got, test.want) {
				t.Errorf("found %q, want %q", got, test.want)
			}
		})
	}
}

// TestAnswerOfKilledMember: an answer counts if its member ends before the server's response.
func TestAnswerOfKilledMember(t *testing.T) {
	a := newAudit()
	answered := a.ask("team-01", 1)
	ctx, cancel := context.WithCancel(t.Context())
	handler := a.wrap(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		cancel() // the connection
		if req.Context().Err() != nil {
			w.WriteHeader(http.StatusGatewayTimeout) // an API server writes the object nevertheless
			return
		}
		w.WriteHeader(http.StatusOK)
	}))
	handler.ServeHTTP(httptest.NewRecorder(), answerBy("a", "1", stateDone).WithContext(ctx))
	select {
	case <-answered:
	default:
		t.Error("the request has no answer")
	}
}

// answerBy returns a write of a member at an epoch.
func answerBy(member, epoch, state string) *http.Request {
	body := fmt.Sprintf(`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "answer", "namespace": "team-01"},
		"data": {"round": "1", "state": %q}}`, state)
	req := httptest.NewRequest(http.MethodPut, "/api/v1/namespaces/team-01/configmaps/answer", strings.NewReader(body))
	req.Header.Set("User-Agent", fmt.Sprintf("%s/requests (shard %s-k2p4 7@%s)", member, member, epoch))
	return req
}

func TestWriteWithoutClaim(t *testing.T) {
	if c, err := claimIn("member-1/requests (shard member-1-k2p4 17@5)"); err != nil || c != (claim{"member-1", "member-1-k2p4", 17, 5}) {
		t.Errorf("the claim is %v (%v)", c, err)
	}
	if c, err := claimIn("member-1 (shard member-1-k2p4 17@5)"); err != nil || c != (claim{"member-1", "member-1-k2p4", 17, 5}) {
		t.Errorf("the claim without a controller's name is %v (%v)", c, err)
	}
	if c, err := claimIn("kubectl/v1"); err == nil {
		t.Errorf("there is a claim, %v", c)
	}
}
