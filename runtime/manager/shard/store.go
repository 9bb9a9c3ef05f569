// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// The label and the annotations of a ring's Leases.
const (
	ringLabel          = "informer-gen.dev/ring"     // its value is the ring's name
	tableAnnotation    = "informer-gen.dev/table"    // a storedTable
	settingsAnnotation = "informer-gen.dev/settings" // a member's By, Buckets and Roots
	stateAnnotation    = "informer-gen.dev/state"    // a memberState
	weightAnnotation   = "informer-gen.dev/weight"
	readyAnnotation    = "informer-gen.dev/ready"    // buckets at epochs, as 0-7@3 8@4
	releasedAnnotation = "informer-gen.dev/released" // likewise
)

func tableName(ring string) string             { return ring + "-table" }
func leaseName(ring, identity string) string   { return ring + "-m-" + identity }
func identityOf(ring, leaseName string) string { return strings.TrimPrefix(leaseName, ring+"-m-") }

// storedTable is the text of a table. Members are numbered from 1, to keep it short.
type storedTable struct {
	Generation uint64   `json:"generation"`
	Settings   string   `json:"settings"`
	Seconds    int64    `json:"seconds"` // the longest LeaseDuration
	Members    []string `json:"members,omitempty"`
	// Buckets has a line for each run of equal buckets: first and last bucket, epoch, time, and the
	// numbers of owner, next and spare, and 1 while the owner is to release.
	Buckets []string `json:"buckets"`
}

// text returns the table as it is stored.
func (t *table) text() string {
	s := storedTable{Generation: t.generation, Settings: t.settings, Seconds: int64(t.duration / time.Second)}
	numbers := map[string]int{"": 0}
	number := func(name string) int {
		n, ok := numbers[name]
		if !ok {
			s.Members = append(s.Members, name)
			n = len(s.Members)
			numbers[name] = n
		}
		return n
	}
	for first := 0; first < len(t.buckets); {
		last := first
		for last+1 < len(t.buckets) && t.buckets[last+1] == t.buckets[first] {
			last++
		}
		e := t.buckets[first]
		revoking := 0
		if e.Revoking {
			revoking = 1
		}
		s.Buckets = append(s.Buckets, fmt.Sprintf("%d-%d %d %d %d %d %d %d", first, last, e.Epoch, e.Since, number(e.Owner), number(e.Next), number(e.Spare), revoking))
		first = last + 1
	}
	text, _ := json.Marshal(s) // has nothing that can fail
	return string(text)
}

// tableOf reads the table from its Lease.
func tableOf(l *coordinationv1.Lease) (table, error) {
	fail := func(format string, args ...any) (table, error) {
		return table{}, fmt.Errorf("lease %s/%s, annotation %s: %s; delete the Lease while no member runs", l.Namespace, l.Name, tableAnnotation, fmt.Sprintf(format, args...))
	}
	var s storedTable
	if err := json.Unmarshal([]byte(l.Annotations[tableAnnotation]), &s); err != nil {
		return fail("%v", err)
	}
	if s.Seconds < 0 || s.Seconds > math.MaxInt32 {
		return fail("%d seconds", s.Seconds)
	}
	t := table{version: l.ResourceVersion, uid: string(l.UID), generation: s.Generation, settings: s.Settings, duration: time.Duration(s.Seconds) * time.Second}
	for _, line := range s.Buckets {
		var first, last, owner, next, spare, revoking int
		var e entry
		if _, err := fmt.Sscanf(line, "%d-%d %d %d %d %d %d %d", &first, &last, &e.Epoch, &e.Since, &owner, &next, &spare, &revoking); err != nil {
			return fail("%q: %v", line, err)
		}
		if max(owner, next, spare) > len(s.Members) || min(owner, next, spare) < 0 || first != len(t.buckets) || last < first || last >= maxBuckets {
			return fail("%q does not fit to the lines before, or to %d members", line, len(s.Members))
		}
		names := append([]string{""}, s.Members...)
		e.Owner, e.Next, e.Spare, e.Revoking = names[owner], names[next], names[spare], revoking != 0
		for range last - first + 1 {
			t.buckets = append(t.buckets, e)
		}
	}
	return t, nil
}

// epochsText returns buckets at epochs as text.
func epochsText(epochs []uint64) string {
	var parts []string
	for first := 0; first < len(epochs); {
		last := first
		for last+1 < len(epochs) && epochs[last+1] == epochs[first] {
			last++
		}
		switch e := epochs[first]; {
		case e == 0:
		case first == last:
			parts = append(parts, fmt.Sprintf("%d@%d", first, e))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d@%d", first, last, e))
		}
		first = last + 1
	}
	return strings.Join(parts, " ")
}

// parseEpochs is the reverse of epochsText. It skips invalid parts.
func parseEpochs(text string, buckets int) []uint64 {
	epochs := make([]uint64, buckets)
	for _, part := range strings.Fields(text) {
		which, at, _ := strings.Cut(part, "@")
		firstText, lastText, isRun := strings.Cut(which, "-")
		if !isRun {
			lastText = firstText
		}
		first, err1 := strconv.Atoi(firstText)
		last, err2 := strconv.Atoi(lastText)
		epoch, err3 := strconv.ParseUint(at, 10, 64)
		if err1 != nil || err2 != nil || err3 != nil {
			continue
		}
		for b := max(0, first); b <= last && b < buckets; b++ {
			epochs[b] = epoch
		}
	}
	return epochs
}

// newTableLease returns a Lease with a table.
func newTableLease(o *Options, t *table) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Namespace: o.Namespace, Name: tableName(o.Name), ResourceVersion: t.version,
		Labels:      map[string]string{ringLabel: o.Name},
		Annotations: map[string]string{tableAnnotation: t.text()},
	}}
}

// leaseOf returns a member's Lease as it is stored.
func leaseOf(l *coordinationv1.Lease, ring string, buckets int) lease {
	m := lease{
		identity: identityOf(ring, l.Name), version: l.ResourceVersion, settings: l.Annotations[settingsAnnotation],
		state: memberState(l.Annotations[stateAnnotation]), weight: 1,
		duration: time.Duration(ptr.Deref(l.Spec.LeaseDurationSeconds, 1)) * time.Second,
		ready:    parseEpochs(l.Annotations[readyAnnotation], buckets), released: parseEpochs(l.Annotations[releasedAnnotation], buckets),
	}
	if ptr.Deref(l.Spec.HolderIdentity, "") == "" && !m.state.gone() {
		m.state = evicted // somebody else wrote this, and nobody knows why
	}
	if w, err := strconv.Atoi(l.Annotations[weightAnnotation]); err == nil && w > 0 {
		m.weight = w
	}
	return m
}

// newMemberLease returns a member's Lease as the member writes it.
func newMemberLease(o *Options, m *lease, renewed time.Time) *coordinationv1.Lease {
	holder := m.identity
	if m.state.gone() {
		holder = ""
	}
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: o.Namespace, Name: leaseName(o.Name, m.identity), ResourceVersion: m.version,
			Labels: map[string]string{ringLabel: o.Name},
			Annotations: map[string]string{
				settingsAnnotation: m.settings, stateAnnotation: string(m.state), weightAnnotation: strconv.Itoa(m.weight),
				readyAnnotation: epochsText(m.ready), releasedAnnotation: epochsText(m.released),
			},
		},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: &holder, LeaseDurationSeconds: ptr.To(int32(m.duration / time.Second)), RenewTime: ptr.To(metav1.NewMicroTime(renewed)),
		},
	}
}

// takenLease returns a member's Lease as a coordinator takes it.
func takenLease(o *Options, from *coordinationv1.Lease, w *write) *coordinationv1.Lease {
	l := newMemberLease(o, &lease{identity: w.identity, state: w.state, duration: w.duration, weight: 1}, time.Now())
	if from != nil {
		l = from.DeepCopy()
		l.Annotations = maps.Clone(l.Annotations)
		if l.Annotations == nil {
			l.Annotations = map[string]string{}
		}
		l.Annotations[stateAnnotation] = string(w.state)
		l.Spec.HolderIdentity = ptr.To("")
	}
	l.ResourceVersion = w.version
	return l
}

// settingsText returns the settings that all members must share.
func settingsText(o *Options) string {
	text := fmt.Sprintf("%v, %d buckets", o.By, o.Buckets)
	for n, r := range o.Roots {
		separator := ", roots "
		if n > 0 {
			separator = " "
		}
		text += separator + r.Kind + "." + r.Group
		if r.ClusterScoped {
			text += " (cluster)"
		}
	}
	return text
}
