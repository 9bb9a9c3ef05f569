// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/object"
)

func TestStatus(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.maps.Create(configMap("a"))
		calls := &calls{do: sleep(time.Hour)}
		c := r.new(calls.reconcile, controller.Options{Concurrency: 2}, controller.For(r.mapInformer))
		status := c.Status()
		same(t, "before", []any{status.Name, status.Running, status.Synced, status.Concurrency}, []any{"test", false, false, 2})
		start := time.Now()
		stop := r.start(c)
		synctest.Wait()
		time.Sleep(time.Minute)
		for range 2 {
			c.Enqueue(key("x"), key("y"))
		}
		synctest.Wait()
		status = c.Status()
		same(t, "while it runs", []any{status.Running, status.Synced, status.Active, status.Queue.Normal}, []any{true, true, 2, 1})
		same(t, "running", []any{status.Queue.Running[0].Key, status.Queue.Running[0].Since.Equal(start)}, []any{"shop/a", true})
		same(t, "handlers", status.Handlers[0].Name, "controller test: For of configmaps/v1")
		where, known := c.StatusOf(key("x"))
		same(t, "x", []any{known, where.Running}, []any{true, true})
		go func() { _ = stop() }()
		time.Sleep(2 * time.Hour)
		same(t, "after", c.Status().Running, false)
	})
}

// TestStatusAsJSON has what people look for in few words.
func TestStatusAsJSON(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.maps.Create(configMap("a"))
		calls := &calls{do: func(_ context.Context, key object.Key) (result, error) {
			if key.Name == "bad" {
				return result{}, errTry
			}
			time.Sleep(time.Hour)
			return result{}, nil
		}}
		c, _ := r.run(calls, controller.Options{Concurrency: 2}, controller.For(r.mapInformer))
		c.Enqueue(key("bad"))
		time.Sleep(time.Millisecond)
		status := c.Status()
		status.Queue.NextDue = time.Time{} // it is random
		text, err := json.MarshalIndent(status, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		same(t, "JSON", string(text), statusAsJSON)
	})
}

const statusAsJSON = `{
 "name": "test",
 "running": true,
 "synced": true,
 "handlers": [
  {
   "name": "controller test: For of configmaps/v1",
   "synced": true,
   "backlog": 0
  }
 ],
 "concurrency": 2,
 "active": 1,
 "queue": {
  "high": 0,
  "normal": 0,
  "low": 0,
  "delayed": 1,
  "failing": 1,
  "running": [
   {
    "key": "shop/a",
    "level": "low",
    "running": true,
    "since": "2000-01-01T00:00:00Z"
   }
  ]
 },
 "totals": {
  "succeeded": 0,
  "failed": 1
 },
 "lastError": "the test lets it fail",
 "lastErrorKey": "bad",
 "lastErrorTime": "2000-01-01T00:00:00Z"
}`
