// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func namespaceName(n int) string { return fmt.Sprintf("team-%02d", n+1) }

// user writes a request into each namespace, and the next one after each answer.
type user struct {
	client *kubernetes.Clientset
	audit  *audit
	pause  time.Duration
	stop   chan struct{} // closed when no more requests are to be written
	all    *errgroup.Group
}

func newUser(config *rest.Config, a *audit, pause time.Duration) (*user, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	return &user{client: client, audit: a, pause: pause, stop: make(chan struct{})}, err
}

// begin makes the namespaces and starts writing requests.
func (u *user) begin(ctx context.Context, namespaces []string) error {
	for _, name := range namespaces {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := u.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	u.all, ctx = errgroup.WithContext(ctx)
	for _, name := range namespaces {
		u.all.Go(func() error { return u.ask(ctx, name) })
	}
	return nil
}

func (u *user) ask(ctx context.Context, namespace string) error {
	maps := u.client.CoreV1().ConfigMaps(namespace)
	for round := 1; ; round++ {
		answered := u.audit.ask(namespace, round)
		text := strconv.Itoa(round)
		var err error
		if round == 1 {
			request := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: requestName}, Data: map[string]string{"round": text}}
			_, err = maps.Create(ctx, request, metav1.CreateOptions{})
		} else {
			_, err = maps.Patch(ctx, requestName, types.MergePatchType, []byte(`{"data": {"round": "`+text+`"}}`), metav1.PatchOptions{})
		}
		if err != nil {
			return fmt.Errorf("writing request %d of %s: %w", round, namespace, err)
		}
		select {
		case <-answered:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		select {
		case <-u.stop:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(u.pause):
		}
	}
}

// wait waits until the user's goroutines have ended.
func (u *user) wait() {
	if u.all != nil {
		_ = u.all.Wait() // end has returned the error
	}
}

// end waits until all requests have been answered, and compares the objects.
func (u *user) end(ctx context.Context, limit time.Duration) error {
	close(u.stop)
	ended := make(chan error, 1)
	go func() { ended <- u.all.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			return err
		}
	case <-time.After(limit):
		return fmt.Errorf("requests have waited for %v without an answer", limit)
	}
	all, err := u.client.CoreV1().ConfigMaps("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	rounds := map[string]map[string]string{requestName: {}, answerName: {}} // by name and namespace
	for _, m := range all.Items {
		if rounds[m.Name] != nil {
			rounds[m.Name][m.Namespace] = m.Data["round"]
		}
	}
	for namespace, round := range rounds[requestName] {
		if got := rounds[answerName][namespace]; got != round {
			return fmt.Errorf("%s has request %s and the answer to request %q", namespace, round, got)
		}
	}
	return nil
}
