// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/runtime/manager/shard"
)

// patience limits each wait. A slow machine may need it.
const patience = 30 * time.Second

// story is the program's first process.
type story struct {
	*settings
	w     io.Writer
	began time.Time
	audit *audit
	user  *user

	server   string
	replicas []*replica // all that were started
	wrong    []string
}

// tell starts the API server, tells the story, and ends everything. The error names the checks that
// failed.
func tell(ctx context.Context, s *settings, w io.Writer) (err error) {
	t := &story{settings: s, w: w, began: time.Now(), audit: newAudit()}
	// Not ctx: an interrupt must end the replicas before the server.
	server, err := devserver.Start(context.WithoutCancel(ctx), devserver.Options{BuiltInKinds: true, WrapHandler: t.audit.wrap})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	t.server = server.Config().Host
	t.say("an API server listens at %s", t.server)
	if t.user, err = newUser(server.Config(), t.audit, s.pause); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer func() { // the user's goroutines end before the server
		cancel()
		t.user.wait()
	}()
	defer t.endAll()
	for _, chapter := range []func(context.Context) error{t.start, t.kill, t.hang, t.add, t.leave, t.finish} {
		t.audit.chapter()
		if err := chapter(ctx); err != nil {
			return t.explain(err)
		}
	}
	writes, problems := t.audit.found()
	if wrong := slices.Concat(t.wrong, problems); len(wrong) > 0 {
		return t.explain(fmt.Errorf("%d of %d checks failed:\n%s", len(wrong), writes, strings.Join(wrong, "\n")))
	}
	t.say("all is as it should be: of %d writes, none overlapped another member's, and each request has one answer", writes)
	return nil
}

func (t *story) start(ctx context.Context) error {
	var namespaces []string
	for n := range t.namespaces {
		namespaces = append(namespaces, namespaceName(n))
	}
	if err := t.user.begin(ctx, namespaces); err != nil {
		return err
	}
	t.say("a user writes requests in %d namespaces; %d replicas start", t.namespaces, t.settings.replicas)
	for range t.settings.replicas {
		if _, err := t.startReplica(); err != nil {
			return err
		}
	}
	return t.settle(ctx, t.alive())
}

func (t *story) kill(ctx context.Context) error {
	victim := t.alive()[1]
	had := victim.report()
	if err := victim.signal(syscall.SIGKILL); err != nil {
		return err
	}
	t.say("%s is killed (SIGKILL); it had %s", victim.name, describe(had))
	if err := t.takenOver(ctx, victim, time.Now()); err != nil {
		return err
	}
	return t.settle(ctx, t.alive())
}

func (t *story) hang(ctx context.Context) error {
	victim := t.alive()[0]
	others := slices.DeleteFunc(t.alive(), func(r *replica) bool { return r == victim })
	stopped := make(chan string, 1)
	t.audit.stopNext(victim.name, func(namespace string) {
		if victim.signal(syscall.SIGSTOP) == nil {
			stopped <- namespace
		}
	})
	select {
	case namespace := <-stopped:
		t.say("%s is paused (SIGSTOP), between two writes to %s; it had %s", victim.name, namespace, describe(victim.report()))
	case <-time.After(patience):
		return fmt.Errorf("%s has begun no answer", victim.name)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	began := time.Now()
	if err := t.takenOver(ctx, victim, began); err != nil {
		return err
	}
	if err := t.settle(ctx, others); err != nil {
		return err
	}
	t.say("%s goes on (SIGCONT), after %s", victim.name, seconds(time.Since(began)))
	if err := victim.signal(syscall.SIGCONT); err != nil {
		return err
	}
	if err := victim.await(ctx, patience); err != nil {
		return err
	}
	last := victim.report()
	t.check(last.Refused != "", "%s went on after its pause, and so did its reconcile", victim.name)
	t.check(last.Lost, "%s ended with %q, want %q", victim.name, last.Ended, shard.ErrLost)
	t.say("the reconcile did not go on: %s", last.Refused)
	t.say("it has ended: %s", last.Ended)
	next, err := t.startReplica()
	if err != nil {
		return err
	}
	t.say("%s takes its place", next.name)
	return t.settle(ctx, t.alive())
}

func (t *story) add(ctx context.Context) error {
	before := t.owners()
	joined, err := t.startReplica()
	if err != nil {
		return err
	}
	t.say("%s joins", joined.name)
	if err := t.settle(ctx, t.alive()); err != nil {
		return err
	}
	givers := map[string][]string{}
	for _, namespace := range joined.report().Namespaces {
		givers[before[namespace]] = append(givers[before[namespace]], namespace)
	}
	for _, r := range t.alive() {
		if given := givers[r.name]; given != nil {
			t.say("  %s gave it %s", r.name, strings.Join(given, " "))
		}
	}
	return t.checkWaits()
}

func (t *story) leave(ctx context.Context) error {
	leaver := t.alive()[0]
	t.say("%s is stopped (SIGTERM); it had %s", leaver.name, describe(leaver.report()))
	began := time.Now()
	if err := leaver.signal(syscall.SIGTERM); err != nil {
		return err
	}
	if err := leaver.await(ctx, patience); err != nil {
		return err
	}
	t.say("it has handed over and ended %s later", seconds(time.Since(began)))
	t.check(leaver.report().Interrupted, "%s ended with %q, want %v", leaver.name, leaver.report().Ended, context.Canceled)
	if err := t.settle(ctx, t.alive()); err != nil {
		return err
	}
	return t.checkWaits()
}

func (t *story) finish(ctx context.Context) error {
	if err := t.user.end(ctx, patience); err != nil {
		return err
	}
	t.say("the user writes no more; every request has its answer")
	t.endAll()
	return nil
}

// takenOver waits until others have written in all namespaces of a member.
func (t *story) takenOver(ctx context.Context, from *replica, since time.Time) error {
	limit := time.After(t.ring.LeaseDuration + patience)
	for {
		changed := t.audit.changed()
		left := t.audit.writtenBy(from.name)
		if len(left) == 0 {
			t.say("%s later, others work on all of it; LeaseDuration is %v", seconds(time.Since(since)), t.ring.LeaseDuration)
			return nil
		}
		select {
		case <-changed:
		case <-limit:
			return fmt.Errorf("nobody works on %s after %v", strings.Join(left, " "), time.Since(since))
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// settle waits until the members share all buckets evenly, and tells who has what.
func (t *story) settle(ctx context.Context, members []*replica) error {
	for began := time.Now(); ; {
		var sum, least, most int
		for n, r := range members {
			has := r.report().Buckets
			sum, most = sum+has, max(most, has)
			if n == 0 || has < least {
				least = has
			}
		}
		if sum == t.ring.Buckets && most-least <= 1 {
			break
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if time.Since(began) > t.ring.LeaseDuration+patience {
			return fmt.Errorf("the members don't share %d buckets evenly: %s", t.ring.Buckets, t.shares(members))
		}
	}
	t.say("the members have:\n%s", t.shares(members))
	return nil
}

func (t *story) shares(members []*replica) string {
	var lines []string
	for _, r := range members {
		lines = append(lines, fmt.Sprintf("          %s  %s", r.name, describe(r.report())))
	}
	return strings.Join(lines, "\n")
}

func describe(r report) string {
	return fmt.Sprintf("%d buckets, with %s", r.Buckets, strings.Join(r.Namespaces, " "))
}

// owners returns the owner of each namespace by the members' reports.
func (t *story) owners() map[string]string {
	owners := map[string]string{}
	for _, r := range t.alive() {
		for _, namespace := range r.report().Namespaces {
			owners[namespace] = r.name
		}
	}
	return owners
}

// checkWaits fails if a request waited for the end of a lease.
func (t *story) checkWaits() error {
	wait, namespace := t.audit.longest()
	t.say("the longest wait for an answer was %s, in %s", seconds(wait), namespace)
	t.check(wait < t.ring.LeaseDuration, "a request in %s waited for %v, want less than LeaseDuration %v", namespace, wait, t.ring.LeaseDuration)
	return nil
}

func (t *story) check(ok bool, format string, args ...any) {
	if !ok {
		t.wrong = append(t.wrong, fmt.Sprintf(format, args...))
		t.say("WRONG: "+format, args...)
	}
}

func (t *story) say(format string, args ...any) {
	fmt.Fprintf(t.w, "%7s   %s\n", seconds(time.Since(t.began)), fmt.Sprintf(format, args...))
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

func (t *story) startReplica() (*replica, error) {
	r, err := startReplica(fmt.Sprint("member-", len(t.replicas)+1), t.server, t.settings)
	if err == nil {
		t.replicas = append(t.replicas, r)
	}
	return r, err
}

func (t *story) alive() (alive []*replica) {
	for _, r := range t.replicas {
		if !r.hasEnded() {
			alive = append(alive, r)
		}
	}
	return alive
}

func (t *story) endAll() {
	var all sync.WaitGroup
	for _, r := range t.alive() {
		all.Go(func() { r.end(patience) })
	}
	all.Wait()
}

// explain adds the logs of the replicas to an error, unless it is an interrupt.
func (t *story) explain(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	t.endAll()
	for _, r := range t.replicas {
		fmt.Fprintf(t.w, "\nthe last lines of %s's log:\n%s", r.name, lastLines(r.logs.String(), 20))
	}
	return err
}

func lastLines(text string, n int) string {
	lines := strings.SplitAfter(text, "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "")
}
