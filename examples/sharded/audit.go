// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
)

// audit sees each write of an answer on its way to the API server. The ring's fence adds member,
// bucket and epoch to the User-Agent. These are wrong:
//
//   - a write while another member's write of the same answer is under way;
//   - a write at an epoch from before that of an earlier one, or at the same one by another member;
//   - two answers to one request.
type audit struct {
	mu       sync.Mutex
	answers  map[string]*answers // by namespace
	problems []string
	writes   int
	change   chan struct{} // closed at the next write
	stopAt   func(member, namespace string)
}

// answers are the writes in a namespace.
type answers struct {
	last    claim
	writing []claim // those under way

	round    int // of the request
	asked    time.Time
	answered chan struct{} // closed when it is answered; nil then
	longest  time.Duration // the longest wait for an answer in this chapter
}

// awaits reports whether the request of an answer has no other one. A reconcile that reads an old
// state begins another one, which the server refuses.
func (in *answers) awaits(answer *corev1.ConfigMap) bool {
	return in.answered != nil && answer.Data["round"] == strconv.Itoa(in.round)
}

// claim is the member, the bucket and the epoch of a write.
type claim struct {
	replica string // the name of the process
	member  string // its identity in the ring
	bucket  int
	epoch   uint64
}

func (c claim) String() string {
	return fmt.Sprintf("%s at epoch %d of bucket %d", c.replica, c.epoch, c.bucket)
}

// claimIn returns the claim in a User-Agent such as "member-1/requests (shard member-1-k2p4 17@5)".
func claimIn(userAgent string) (c claim, err error) {
	program, text, _ := strings.Cut(userAgent, " (shard ")
	c.replica, _, _ = strings.Cut(program, "/")
	if _, err := fmt.Sscanf(strings.Replace(text, "@", " ", 1), "%s %d %d)", &c.member, &c.bucket, &c.epoch); err != nil {
		return c, fmt.Errorf("no claim in the User-Agent %q: %w", userAgent, err)
	}
	return c, nil
}

func newAudit() *audit { return &audit{answers: map[string]*answers{}, change: make(chan struct{})} }

func (a *audit) inLocked(namespace string) *answers {
	if a.answers[namespace] == nil {
		a.answers[namespace] = &answers{}
	}
	return a.answers[namespace]
}

// chapter begins a chapter of the story, whose waits are measured.
func (a *audit) chapter() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, in := range a.answers {
		in.longest = 0
	}
}

// ask notes a request. The result is closed when it has been answered.
func (a *audit) ask(namespace string, round int) <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	in := a.inLocked(namespace)
	in.round, in.asked, in.answered = round, time.Now(), make(chan struct{})
	return in.answered
}

// stopNext calls f once, with the next write of a member that begins the answer to an open request,
// before the server gets that.
func (a *audit) stopNext(member string, f func(namespace string)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stopAt = func(by, namespace string) {
		if by == member {
			a.stopAt = nil
			f(namespace)
		}
	}
}

// changed returns a channel, closed at the next write.
func (a *audit) changed() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.change
}

// writtenBy returns the namespaces with a last write by a member.
func (a *audit) writtenBy(member string) (namespaces []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for namespace, in := range a.answers {
		if in.last.replica == member {
			namespaces = append(namespaces, namespace)
		}
	}
	slices.Sort(namespaces)
	return namespaces
}

// longest returns the longest wait for an answer in this chapter, and its namespace.
func (a *audit) longest() (wait time.Duration, namespace string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for name, in := range a.answers {
		longest := in.longest
		if in.answered != nil {
			longest = max(longest, time.Since(in.asked))
		}
		if longest > wait {
			wait, namespace = longest, name
		}
	}
	return wait, namespace
}

// found returns the number of writes, and all violations.
func (a *audit) found() (writes int, problems []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.writes, slices.Clone(a.problems)
}

// wrap is for devserver.Options.WrapHandler.
func (a *audit) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		answer := answerIn(req)
		if answer == nil {
			next.ServeHTTP(w, req)
			return
		}
		by, err := claimIn(req.UserAgent())
		a.begin(by, err, answer)
		status := &statusWriter{ResponseWriter: w}
		defer func() { a.end(by, answer, status.code/100 == 2) }()
		// The server may write the object, but tell of a timeout, if the client goes meanwhile.
		next.ServeHTTP(status, req.WithContext(context.WithoutCancel(req.Context())))
	})
}

func (a *audit) begin(by claim, err error, answer *corev1.ConfigMap) {
	a.mu.Lock()
	defer a.mu.Unlock()
	in := a.inLocked(answer.Namespace)
	for _, other := range in.writing {
		if other.member != by.member {
			a.problemLocked("%v writes to %s while %v does", by, answer.Namespace, other)
		}
	}
	switch last := in.last; {
	case err != nil:
		a.problemLocked("a write to %s: %w", answer.Namespace, err)
	case last == (claim{}), by == last:
	case by.bucket != last.bucket, by.epoch <= last.epoch:
		a.problemLocked("%v writes to %s after %v", by, answer.Namespace, last)
	}
	in.last = by
	in.writing = append(in.writing, by)
	if a.stopAt != nil && answer.Data["state"] == stateBegun && in.awaits(answer) {
		a.stopAt(by.replica, answer.Namespace)
	}
}

func (a *audit) end(by claim, answer *corev1.ConfigMap, accepted bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	in := a.inLocked(answer.Namespace)
	n := slices.Index(in.writing, by)
	in.writing = slices.Delete(in.writing, n, n+1)
	a.writes++
	close(a.change)
	a.change = make(chan struct{})
	if !accepted || answer.Data["state"] != stateDone {
		return
	}
	if !in.awaits(answer) {
		a.problemLocked("%v answers request %s of %s once more", by, answer.Data["round"], answer.Namespace)
		return
	}
	in.longest = max(in.longest, time.Since(in.asked))
	close(in.answered)
	in.answered = nil
}

func (a *audit) problemLocked(format string, args ...any) {
	a.problems = append(a.problems, fmt.Errorf(format, args...).Error())
}

// answerIn returns the answer that a request writes, in JSON or protobuf, or nil. The body can be
// read again.
func answerIn(req *http.Request) *corev1.ConfigMap {
	if req.Method != http.MethodPost && req.Method != http.MethodPut || !strings.Contains(req.URL.Path, "/configmaps") {
		return nil
	}
	body, err := io.ReadAll(req.Body)
	req.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil {
		return nil // nor can the server read it
	}
	decoded, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	answer, ok := decoded.(*corev1.ConfigMap)
	if err != nil || !ok || answer.Name != answerName {
		return nil
	}
	return answer
}

// statusWriter keeps the status code.
type statusWriter struct {
	http.ResponseWriter
	code int
}

func (w *statusWriter) WriteHeader(code int) {
	w.code = code
	w.ResponseWriter.WriteHeader(code)
}
