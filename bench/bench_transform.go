// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/report"
	"github.com/informer-gen/informer-gen/bench/rig"
	"github.com/informer-gen/informer-gen/bench/server"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// dropping is our side without a transform: its source drops managedFields while it decodes.
const dropping harness.Side = "dropping while decoding"

// transformBenches are initial syncs with a transform function on both sides.
func transformBenches() []harness.Bench {
	has := func(z harness.Sizes) server.World { return server.World{Pods: z.Pods} }
	identity := func(obj object.Object) (object.Object, error) { return obj, nil }
	strip := func(obj object.Object) (object.Object, error) {
		_, err := rig.StripManagedFields(obj)
		return obj, err
	}
	one := func(name, what string, how rig.Setup) harness.Bench {
		b := syncBench(name, "Pods", has, watchList, true, syncMarks{retained: 0.45})
		b.Title = func(z harness.Sizes) string {
			return fmt.Sprintf("initial sync of %s Pods by watch-list, %s", report.Digits(float64(has(z).Objects())), what)
		}
		b.Others = []harness.Side{dropping}
		b.Prepare = func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			how := how
			if e.Side == dropping {
				e.Side, how = harness.Ours, rig.Setup{Strip: true}
			}
			return func() (harness.Outcome, error) { return syncAs(e, has(e.Sizes), watchList, how) }, nil, server.Begin(e.Server)
		}
		return b
	}
	return []harness.Bench{
		one("transform/strip", "with a transform that removes managedFields", rig.Setup{
			Strip: true, Keep: true, Options: []informer.Option{informer.WithTransform(strip)},
		}),
		one("transform/identity", "with a transform that changes nothing of ours", rig.Setup{
			Strip: true, Options: []informer.Option{informer.WithTransform(identity)},
		}),
	}
}
