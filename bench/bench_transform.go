// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// dropping is our side without a transform: its source drops managedFields while it decodes.
const dropping side = "dropping while decoding"

// transformBenches are initial syncs with a transform function on both sides.
func transformBenches() []bench {
	has := func(z sizes) world { return world{Pods: z.Pods} }
	identity := func(obj object.Object) (object.Object, error) { return obj, nil }
	strip := func(obj object.Object) (object.Object, error) {
		_, err := stripManagedFields(obj)
		return obj, err
	}
	one := func(name, what string, how setup) bench {
		b := syncBench(name, "Pods", has, watchList, true, syncMarks{retained: 0.45})
		b.title = func(z sizes) string {
			return fmt.Sprintf("initial sync of %s Pods by watch-list, %s", digits(float64(has(z).objects())), what)
		}
		b.others = []side{dropping}
		b.prepare = func(e env) (func() (outcome, error), func() error, error) {
			how := how
			if e.side == dropping {
				e.side, how = ours, setup{strip: true}
			}
			return func() (outcome, error) { return syncAs(e, has(e.sizes), watchList, how) }, nil, begin(e.server)
		}
		return b
	}
	return []bench{
		one("transform/strip", "with a transform that removes managedFields", setup{
			strip: true, keep: true, options: []informer.Option{informer.WithTransform(strip)},
		}),
		one("transform/identity", "with a transform that changes nothing of ours", setup{
			strip: true, options: []informer.Option{informer.WithTransform(identity)},
		}),
	}
}
