// SPDX-License-Identifier: Apache-2.0

package shard_test

import (
	"fmt"
	"strings"

	"k8s.io/utils/ptr"
)

// isSettled reports whether live members own all buckets, by their weights, and have reconciled all
// keys since they were granted them. Each watches the others: a request for a watch that was lost
// before the faults ended takes a while to fail. And all Leases are those of live members, because
// the end of another one may still move buckets.
func (h *history) isSettled() bool {
	names := map[string]bool{}
	for _, p := range h.live() {
		if p.link.addStreams(0) == 0 {
			return false
		}
		names[p.name] = true
	}
	for _, l := range h.leases.All() {
		holder := ptr.Deref(l.Spec.HolderIdentity, "")
		if name, _, _ := strings.Cut(holder, "-"); holder != "" && !names[name] {
			return false
		}
	}
	_, wrong := h.unsettled()
	return wrong == ""
}

// unsettled returns the epochs of all buckets, and one thing that is not as it will be some time
// after the last fault; "" if there is none.
func (h *history) unsettled() (epochs [buckets]uint64, wrong string) {
	live := h.live()
	total, owned := 0, map[*process]int{}
	for _, p := range live {
		total += p.weight
		for b := range buckets {
			epoch := p.ring.Hub().Epoch(b)
			if epoch == 0 {
				continue
			}
			owned[p]++
			epochs[b] = epoch
			if wrong == "" {
				wrong = p.worker.unfinished(b, epoch)
			}
		}
	}
	for _, p := range live {
		// ⌊B·w/W⌋ or ⌈B·w/W⌉
		if share := float64(buckets*p.weight) / float64(total); float64(owned[p]) <= share-1 || float64(owned[p]) >= share+1 {
			wrong = fmt.Sprintf("%s, of weight %d of %d, holds %d of %d buckets", p.name, p.weight, total, owned[p], buckets)
		}
		for b, s := range p.ring.Status().Buckets {
			if s.UnownedFor != 0 {
				wrong = fmt.Sprintf("I2: %s says that nobody works on bucket %d for %v", p.name, b, s.UnownedFor)
			}
		}
	}
	for b, epoch := range epochs {
		if epoch == 0 {
			wrong = fmt.Sprintf("I2: nobody holds bucket %d", b)
		}
	}
	return epochs, wrong
}

// unfinished says which keys of a bucket were not reconciled at its epoch; "" for none (I4).
func (w *worker) unfinished(bucket int, epoch uint64) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.granted[bucket] != epoch {
		return fmt.Sprintf("I4: %s holds bucket %d at epoch %d; its last grant was at %d", w.process.name, bucket, epoch, w.granted[bucket])
	}
	for _, key := range w.process.history.keys[bucket] {
		if done := w.done[key]; done != epoch {
			return fmt.Sprintf("I4: %s holds bucket %d at epoch %d, and has reconciled %s at epoch %d", w.process.name, bucket, epoch, key, done)
		}
	}
	return ""
}

// checkSettled checks that the history has settled, and that nothing moves after that.
func (h *history) checkSettled() {
	epochs, wrong := h.unsettled()
	if wrong != "" {
		h.fail("after %v without faults: %s\n%s", calm, wrong, h.stored())
		return
	}
	before := len(h.live())
	h.pass(lease)
	after, wrong := h.unsettled()
	switch {
	case len(h.live()) != before:
		h.fail("%d of %d members are lost, without faults", before-len(h.live()), before)
	case wrong != "":
		h.fail("without faults, what had settled has not any more: %s", wrong)
	case after != epochs:
		h.fail("without faults, buckets have moved: their epochs were %v, and are %v", epochs, after)
	}
}

// stored returns the Leases, as text.
func (h *history) stored() string {
	var b strings.Builder
	for _, l := range h.leases.All() {
		fmt.Fprintf(&b, "%s@%s of %q: %v\n", l.Name, l.ResourceVersion, ptr.Deref(l.Spec.HolderIdentity, ""), l.Annotations)
	}
	return b.String()
}
