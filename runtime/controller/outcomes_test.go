// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/workqueue"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

var slowRetries = workqueue.Options{Limiter: workqueue.Exponential{Base: 10 * time.Second, Max: time.Hour}}

// TestFailingKeys has a key that is retried and one that is not. Then both succeed.
func TestFailingKeys(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		healed := false
		calls := &calls{do: func(_ context.Context, key object.Key) (result, error) {
			switch {
			case healed || key.Name == "good":
				return result{}, nil
			case key.Name == "terminal":
				return result{}, controller.Terminal(errors.New("no such color"))
			}
			return result{}, errTry
		}}
		c, _ := r.run(calls, controller.Options{Queue: slowRetries})
		failing := func() (text string) {
			synctest.Wait()
			for _, k := range c.Status().Failing {
				text += fmt.Sprintf("%s: %d failures, %v, due %v; ", k.Key, k.Failures, k.Error, !k.Due.IsZero())
			}
			return text
		}
		same(t, "at first", failing(), "")
		c.Enqueue(key("terminal"), key("retried"), key("good"))
		time.Sleep(15 * time.Second) // the second failure
		same(t, "later", failing(), "retried: 2 failures, on purpose, due true; terminal: 0 failures, terminal: no such color, due false; ")
		where, known := c.StatusOf(key("terminal"))
		same(t, "terminal", []any{where.Error, known}, []any{"terminal: no such color", false})
		where, known = c.StatusOf(key("retried"))
		same(t, "retried", []any{where.Error, where.Failures, known}, []any{"on purpose", 2, true})
		healed = true
		c.Enqueue(key("terminal"), key("retried"))
		time.Sleep(time.Minute)
		same(t, "healed", failing(), "")
		same(t, "the last error stays", c.Status().LastError, "on purpose")
	})
}

// TestManyFailingKeys: the list of failing keys, and the memory for them, are bounded.
func TestManyFailingKeys(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		calls := &calls{do: func(context.Context, object.Key) (result, error) {
			return result{}, errors.New(strings.Repeat("ü", 2000))
		}}
		c, _ := r.run(calls, controller.Options{Queue: slowRetries})
		known := func() (n int) {
			for k := range 1500 {
				if where, _ := c.StatusOf(key(fmt.Sprint(k))); where.Error != "" {
					n++
				}
			}
			return n
		}
		for n := range 1500 {
			c.Enqueue(key(fmt.Sprint(n)))
		}
		synctest.Wait()
		s := c.Status()
		same(t, "keys", []int{len(s.Failing), s.Queue.Failing, known()}, []int{100, 1500, 1000})
		want := strings.Repeat("ü", 1000) + "… (2000 more bytes; the log has all)"
		same(t, "texts", []string{s.LastError, s.Failing[0].Error}, []string{want, want})
	})
}

// TestLastMinute counts the reconciles of a minute, less at most 5 s.
func TestLastMinute(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		calls := &calls{do: func(_ context.Context, key object.Key) (result, error) {
			if key.Name == "bad" {
				return result{}, controller.Terminal(errTry)
			}
			return result{}, nil
		}}
		c, _ := r.run(calls, controller.Options{})
		for second := range 120 {
			c.Enqueue(key("good"))
			if second%10 == 0 {
				c.Enqueue(key("bad"))
			}
			time.Sleep(time.Second)
		}
		synctest.Wait()
		same(t, "after 2 minutes", c.Status().LastMinute, controller.Recent{Ended: 55 + 5, Failed: 5})
		time.Sleep(30 * time.Second)
		same(t, "half a minute later", c.Status().LastMinute, controller.Recent{Ended: 25 + 2, Failed: 2})
		time.Sleep(time.Minute)
		same(t, "a minute later", c.Status().LastMinute, controller.Recent{})
	})
}

// TestRunError is the error of a failed run, until the next one.
func TestRunError(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		allow := r.server.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: sourcetest.Refuse(http.StatusForbidden)})
		c := r.new((&calls{}).reconcile, controller.Options{SyncTimeout: time.Second}, controller.For(r.mapInformer))
		err := c.Run(t.Context())
		if text := c.Status().RunError; err == nil || text == "" || !strings.HasSuffix(err.Error(), text) {
			t.Errorf("RunError is %q, Run's error %v", text, err)
		}
		allow()
		stop := r.start(c)
		synctest.Wait()
		same(t, "in the next run", c.Status().RunError, "")
		_ = stop()
		same(t, "after a stop", c.Status().RunError, "")
	})
}
