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
		c := r.new(calls.reconcile, controller.Options{Concurrency: 2}, controller.For(r.mapInformer))
		status := c.Status()
		same(t, "before", []any{status.Name, status.Running, status.Synced, status.Concurrency}, []any{"test", false, false, 2})
		stop := r.start(c)
		synctest.Wait()
		where, known := c.StatusOf(object.Key{Namespace: "shop", Name: "a"})
		same(t, "a", []any{known, where.Running}, []any{true, true})
		c.Enqueue(key("bad"))
		time.Sleep(time.Millisecond)
		status = c.Status()
		status.Queue.NextDue, status.Failing[0].Due = time.Time{}, time.Time{} // they are random
		text, err := json.MarshalIndent(status, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		same(t, "JSON", string(text), statusAsJSON)
		_ = stop()
		same(t, "after", c.Status().Running, false)
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
 "lastMinute": {
  "ended": 1,
  "failed": 1
 },
 "lastError": "on purpose",
 "lastErrorKey": "bad",
 "lastErrorTime": "2000-01-01T00:00:00Z",
 "failing": [
  {
   "key": "bad",
   "level": "normal",
   "failures": 1,
   "since": "2000-01-01T00:00:00Z",
   "error": "on purpose",
   "errorTime": "2000-01-01T00:00:00Z"
  }
 ]
}`
