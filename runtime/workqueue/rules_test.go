// SPDX-License-Identifier: Apache-2.0

package workqueue_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

// TestRules has an example of each documented rule, in these commands:
//
//	add KEY [high|low] [DELAY]     work KEY @TIME: a worker gets a key and ends it
//	get KEY @TIME [high|low] [failures=N]
//	done KEY [failed] [after=DELAY] [hold=TIME]      release KEY      purge LETTER: its keys
//	shutdown MODE: it begins      over: it has ended      dropped KEYS
//	is KEY STATE      ready N      idle      sleep TIME
//
// TIME is the time since the start. The delays after failures are 10 ms, 20 ms and so on.
func TestRules(t *testing.T) {
	paced := exactDelays
	paced.RetryRate, paced.RetryBurst = 10, 2
	for name, rule := range map[string]struct {
		options workqueue.Options
		script  string
	}{
		"one worker has a key":  {exactDelays, `add a, get a @0s, add a, add b, get b @0s, ready 0, done a, ready 1, get a @0s, done a, done b, idle`},
		"several adds are one":  {exactDelays, `add a, add b, add a, ready 2, get a @0s, add a, add a, done a, get b @0s, done b, get a @0s, done a, idle`},
		"Len counts ready keys": {exactDelays, `add a, add b 1s, ready 1, get a @0s, add a, ready 0`},

		"the earliest delay counts":           {exactDelays, `add a 50ms, add a 20ms, add a 30ms, get a @20ms, done a, idle`},
		"a plain add drops the delay":         {exactDelays, `add a 50ms, add a, get a @0s, done a, idle`},
		"a ready key has no delay":            {exactDelays, `add b, add b 50ms, get b @0s, done b, idle`},
		"delays end in the order of time":     {exactDelays, `add c 30ms, add b 20ms, add a 10ms, add d 20ms, get a @10ms, get b @20ms, get d @20ms, get c @30ms`},
		"an earlier delay wakes a worker":     {exactDelays, `add late 1h, work early @30ms, sleep 20ms, add early 10ms, get late @1h`},
		"a very long delay does not overflow": {exactDelays, `sleep 1s, add a 2562047h47m16.854775807s, is a delayed, add a, get a @1s`},
		"a delay of a running key begins when it is added": {exactDelays, `add a, get a @0s, add a 50ms, add a 30ms, sleep 20ms, done a,
			get a @30ms, add a 10ms, sleep 20ms, done a, get a @50ms, add a 1h, add a, done a, get a @50ms, done a, idle`},
		"a dropped delay stays dropped": {exactDelays, `add a 20ms, add a, get a @0s, done a, add b 20ms, add a 20ms, get b @20ms, get a @20ms`},
		"a late worker gets due keys":   {exactDelays, `add b 20ms, add a 10ms, sleep 30ms, add c, get a @30ms, get b @30ms, get c @30ms`},

		"each failure doubles the delay": {exactDelays, `add a, get a @0s, done a failed, get a @10ms failures=1, done a failed, get a @30ms failures=2,
			done a failed, get a @70ms failures=3, done a, idle, add a, get a @70ms failures=0`},
		"an added failed key is ready after the base delay": {exactDelays, `add a, get a @0s, done a failed, add a, get a @10ms failures=1, done a failed, add a,
			get a @20ms failures=2, done a failed, sleep 15ms, add a, get a @35ms, add a, sleep 5ms, done a failed, get a @50ms failures=4,
			done a failed, add a 3ms, get a @60ms, add a 3ms, done a failed, get a @70ms, done a, idle`},
		"After": {exactDelays, `add a high, get a @0s, done a after=40ms, get a @40ms high failures=0, add a 10ms, done a after=40ms,
			get a @50ms, add a, done a after=40ms, get a @50ms, done a, idle`},
		"After together with a failure": {exactDelays, `add a, get a @0s, done a failed after=1h, get a @10ms failures=1, done a failed after=15ms,
			get a @25ms failures=2, done a failed after=1ms, get a @35ms failures=3, done a after=1s, get a @1.035s failures=0`},
		"retries are paced": {paced, `add a, add b, add c, add d, get a @0s, done a failed, get b @0s, done b failed, get c @0s, done c failed, get d @0s, done d failed,
			sleep 20ms, add new, is c paced, get a @20ms, get b @20ms, get new @20ms, is d paced, add d, get d @20ms, get c @120ms`},

		"the highest level comes first": {exactDelays, `add low low, add normal, add high high, get high @0s high, get normal @0s, get low @0s low`},
		"a level is raised and never lowered": {exactDelays, `add a low, add b low, add c low, add b, add b low, get b @0s, get a @0s low, get c @0s low,
			add d high 10ms, add d low 20ms, get d @10ms high`},
		"a level survives retries and After": {exactDelays, `add a high, get a @0s, done a failed, get a @10ms high, done a after=10ms, get a @20ms high,
			add a low, done a failed, get a @30ms high, add a low, done a, get a @30ms low`},

		"a hold ends when it is released":            {exactDelays, `add a, get a @0s, done a hold=1s, add a, is a held, sleep 10ms, release a, release a, release b, get a @10ms`},
		"a hold ends by itself":                      {exactDelays, `add a, get a @0s, add a, done a hold=1s, get a @1s`},
		"a hold without an event":                    {exactDelays, `add a, get a @0s, done a hold=1s, release a, idle, add a, get a @0s, done a hold=1s, sleep 1s, idle`},
		"a hold does not prolong a delay or a retry": {exactDelays, `add a, get a @0s, add a 5ms, done a hold=1s, sleep 2ms, release a, get a @5ms, done a failed hold=1s, release a, get a @15ms`},

		"a purge drops waiting keys": {paced, `add f1, get f1 @0s, done f1 failed, add f2, get f2 @0s, done f2 failed, add f3, get f3 @0s, done f3 failed, sleep 10ms,
			is f3 paced, get f1 @10ms, done f1, get f2 @10ms, done f2, add h1, get h1 @10ms, add h1, done h1 hold=1h, add d1 1s, add a1, add a2 high, add a3 low,
			add b1 1h, add b2 5ms, purge 1, get a2 @10ms high, get a3 @10ms low, get b2 @15ms, purge f, is f3 gone, purge b, purge a, add f3, get f3 @15ms failures=0, done f3, idle`},
		"a purged key does not come back": {exactDelays, `add a, get a @0s, add a, purge a, done a failed after=1ms hold=1h, idle, add a, get a @0s failures=0,
			add a 5ms, purge a, done a, idle`},
		"a purged key comes back if it is added again": {exactDelays, `add a, get a @0s, add a high, purge a, add a, done a, get a @0s failures=0,
			purge a, add a 1h, done a failed, get a @10ms failures=1, purge a, add a 5ms, done a hold=1s, get a @1.01s failures=0`},
		"a purge ends a drain": {exactDelays, `add a, get a @0s, add a, add b, shutdown drain, purge b, purge a, done a, over, dropped`},

		"drop": {exactDelays, `add f, get f @0s, done f failed, add h, get h @0s, done h hold=1h, add i, get i @0s, done i hold=1h, add i, add r, get r @0s,
			add s, get s @0s, add s, add d 1m, add a, add b, shutdown drop, add late, add r, done s, done r, over, dropped a b d f i s`},
		"finish": {exactDelays, `add f, get f @0s, done f failed, add i, get i @0s, done i hold=1h, add i, add s, get s @0s, add s, add d 1m, add a, add b,
			shutdown finish, add late, get a @0s, done a, work b @0s, done s, over, dropped d f i s`},
		"drain": {exactDelays, `add f, get f @0s, done f failed, add i, get i @0s, done i hold=1h, add i, add s, get s @0s, add s, add d 1m, add a,
			shutdown drain, add late, get a @0s, done a, done s, get s @0s, done s failed, over, dropped d f i s`},
		"a drain waits for running keys added again": {exactDelays, `add a, get a @0s, add a, shutdown drain, work a @1s, sleep 1s, done a, over`},
		"a stricter mode takes over":                 {exactDelays, `add r, get r @0s, add r, add a, shutdown drain, ready 1, shutdown drop, shutdown drain, ready 0, done r, over, dropped a r`},
		"a shutdown hands out due keys": {exactDelays, `add 1 10ms, add 2 10ms, add 3 10ms, add 4 10ms, add 5 10ms, add 6 10ms, add 7 10ms, add 8 10ms, add 9 10ms,
			add later 20ms, sleep 10ms, shutdown finish, ready 9, shutdown drop, over`},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, rule.options, func(k kit) { k.play(rule.script) })
		})
	}
}

func (k kit) play(commands string) {
	s := script{kit: k, items: map[string]workqueue.Item[string]{}}
	for command := range strings.SplitSeq(commands, ",") {
		s.do(strings.Fields(command))
	}
	s.tasks.Wait()
}

// script plays commands on a queue.
type script struct {
	kit
	items map[string]workqueue.Item[string]
	tasks sync.WaitGroup
}

func (s *script) do(command []string) {
	defer synctest.Wait()
	verb, args := command[0], command[1:]
	key := ""
	if len(args) > 0 {
		key = args[0]
	}
	switch verb {
	case "add":
		s.AddWith(key, workqueue.AddOptions{Level: levelIn(args), After: s.duration(args[1:], "")})
	case "work":
		s.tasks.Go(func() { s.get(key, s.duration(args, "@")).Done(succeeded) })
	case "get":
		item := s.get(key, s.duration(args, "@"))
		if s.items[key] = item; slices.Contains(args, levelIn(args).String()) && item.Level != levelIn(args) {
			s.t.Errorf("%v: Get() has level %s", command, item.Level)
		}
		if last := args[len(args)-1]; strings.HasPrefix(last, "failures=") && last != fmt.Sprint("failures=", item.Failures) {
			s.t.Errorf("%v: Get() has %d failures", command, item.Failures)
		}
	case "done":
		s.items[key].Done(workqueue.Outcome{Failed: slices.Contains(args, "failed"), After: s.duration(args, "after="), Hold: s.duration(args, "hold=")})
	case "release":
		s.Release(key)
	case "purge":
		s.Purge(func(name string) bool { return strings.Contains(name, key) })
	case "sleep":
		time.Sleep(s.duration(args, ""))
	case "ready":
		if got := fmt.Sprint(s.Len()); got != key {
			s.t.Errorf("%v: Len() = %s", command, got)
		}
	case "is":
		k, known := s.StatusOf(key)
		if args[1] == "gone" && !known {
			return
		}
		states := map[string]bool{"held": k.Held, "paced": k.Paced, "ready": k.Ready, "running": k.Running, "delayed": !k.Ready && !k.Running && !k.Held && !k.Paced}
		if !states[args[1]] || (args[1] == "held" || args[1] == "delayed") == k.Due.IsZero() {
			s.t.Errorf("%v: StatusOf(%q) = %+v", command, key, k)
		}
	case "idle":
		if st := s.Status(); st.High+st.Normal+st.Low+st.Delayed+st.Paced+st.Held != 0 {
			s.t.Errorf("Status() = %+v, want no key", st)
		}
	case "shutdown":
		mode := map[string]workqueue.Mode{"drop": workqueue.Drop, "finish": workqueue.Finish, "drain": workqueue.Drain}[key]
		s.tasks.Go(func() {
			if err := s.ShutDown(context.Background(), mode); err != nil {
				s.t.Error(err)
			}
		})
	case "over":
		s.tasks.Wait()
		if _, err := s.Get(context.Background()); !errors.Is(err, workqueue.ErrShutDown) {
			s.t.Errorf("Get() at the end = %v, want ErrShutDown", err)
		}
	case "dropped":
		st := s.Status()
		if slices.Sort(st.DroppedKeys); !slices.Equal(st.DroppedKeys, args) || st.Dropped != len(args) || !st.ShutDown {
			s.t.Errorf("%v: Status() has %d dropped keys, %q", command, st.Dropped, st.DroppedKeys)
		}
	default:
		s.t.Fatalf("unknown command %q", command)
	}
}

// levelIn returns the level in the arguments of a command.
func levelIn(args []string) workqueue.Level {
	for _, l := range []workqueue.Level{workqueue.High, workqueue.Low} {
		if slices.Contains(args[1:], l.String()) {
			return l
		}
	}
	return workqueue.Normal
}

// duration returns the first duration among words, after a prefix; 0 if there is none.
func (s *script) duration(words []string, prefix string) time.Duration {
	for _, word := range words {
		text, ok := strings.CutPrefix(word, prefix)
		if d, err := time.ParseDuration(text); ok && err == nil {
			return d
		}
	}
	return 0
}
