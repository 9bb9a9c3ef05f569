// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

const (
	slotSeconds       = 5
	maxKeysWithErrors = 1000 // bounds the memory if all keys fail
	maxShownKeys      = 100
	maxErrorText      = 2000 // in bytes
)

// outcomes remembers how the latest reconciles have ended.
type outcomes struct {
	mu     sync.Mutex // mu guards the fields below
	last   failure
	errors map[object.Key]failure // keys whose last reconcile in this run failed
	slots  [60 / slotSeconds]slot // of the last minute, by number modulo length
}

type failure struct {
	key, text string
	at        time.Time
}

type slot struct {
	number int64 // since 1970
	Recent
}

// begin forgets the keys of the last run.
func (o *outcomes) begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.errors = map[object.Key]failure{}
}

// record records the end of a reconcile. err is nil for a success.
func (o *outcomes) record(key object.Key, err error) {
	now, text := time.Now(), ""
	if err != nil {
		text = shortened(err.Error())
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	number := now.Unix() / slotSeconds
	s := &o.slots[number%int64(len(o.slots))]
	if s.number != number {
		*s = slot{number: number}
	}
	s.Ended++
	if err == nil {
		delete(o.errors, key)
		return
	}
	s.Failed++
	o.last = failure{textOf(key), text, now.UTC()}
	if _, known := o.errors[key]; !known && len(o.errors) >= maxKeysWithErrors {
		for other := range o.errors {
			delete(o.errors, other)
			break
		}
	}
	o.errors[key] = o.last
}

// addTo sets the fields of s about recent reconciles.
func (o *outcomes) addTo(s *Status) {
	now := time.Now().Unix() / slotSeconds
	o.mu.Lock()
	defer o.mu.Unlock()
	s.LastError, s.LastErrorKey, s.LastErrorTime = o.last.text, o.last.key, o.last.at
	for _, slot := range o.slots {
		if slot.number > now-int64(len(o.slots)) {
			s.LastMinute.Ended += slot.Ended
			s.LastMinute.Failed += slot.Failed
		}
	}
}

func (o *outcomes) failing() (keys []KeyStatus) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for key := range o.errors {
		keys = append(keys, o.describeLocked(key))
	}
	return keys
}

func (o *outcomes) describe(key object.Key) KeyStatus {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.describeLocked(key)
}

// describeLocked returns the status of a key without the queue's part.
func (o *outcomes) describeLocked(key object.Key) KeyStatus {
	e := o.errors[key]
	return KeyStatus{KeyStatus: workqueue.KeyStatus[object.Key]{Key: key}, Error: e.text, ErrorTime: e.at}
}

// failingKeys returns the keys with errors, those with most failures first.
func (r *run) failingKeys() []KeyStatus {
	keys := slices.DeleteFunc(r.controller.outcomes.failing(), func(s KeyStatus) bool { return !r.buckets.holds(s.Key) })
	for n := range keys {
		if where, known := r.queue.StatusOf(keys[n].Key); known {
			keys[n].KeyStatus = where
		}
	}
	slices.SortFunc(keys, func(a, b KeyStatus) int {
		return cmp.Or(cmp.Compare(b.Failures, a.Failures), cmp.Compare(a.Key.Namespace, b.Key.Namespace), cmp.Compare(a.Key.Name, b.Key.Name))
	})
	return keys[:min(len(keys), maxShownKeys)]
}

func shortened(text string) string {
	if len(text) <= maxErrorText {
		return text
	}
	return fmt.Sprintf("%s… (%d more bytes; the log has all)", strings.ToValidUTF8(text[:maxErrorText], ""), len(text)-maxErrorText)
}
