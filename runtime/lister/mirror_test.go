// SPDX-License-Identifier: Apache-2.0

package lister_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/runtime/lister"
)

// TestMirrorListAll has the scenarios of client-go's TestListAll.
func TestMirrorListAll(t *testing.T) {
	match := labels.SelectorFromSet(labels.Set{"match": "true"})
	for name, test := range map[string]struct {
		objects, matching int
		selector          labels.Selector
		want              int
	}{
		"subset match": {10_000, 1_000, match, 1_000},
		"all match":    {10_000, 0, labels.Everything(), 10_000},
		"no match":     {10_000, 0, match, 0},
		"nothing":      {10_000, 1_000, labels.Nothing(), 0},
	} {
		t.Run(name, func(t *testing.T) {
			things := make([]*thing, test.objects)
			for n := range things {
				things[n] = &thing{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("obj-", n)}}
				if n < test.matching {
					things[n].Labels = map[string]string{"match": "true"}
				}
			}
			list, err := lister.New(newStore(t, things...), resource).List(test.selector)
			if err != nil || len(list) != test.want {
				t.Errorf("List returns %d objects, %v, want %d", len(list), err, test.want)
			}
		})
	}
}
