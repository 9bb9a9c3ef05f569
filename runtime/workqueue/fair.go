// SPDX-License-Identifier: Apache-2.0

package workqueue

// NewFair returns an empty queue that is fair to tenants, such as namespaces or clusters. At each
// level, hand-outs go round over the tenants with ready keys; the keys of one tenant are handed out
// in the order of arrival. So a tenant with 100,000 ready keys delays another tenant's key by one
// hand-out. This is the fair queueing of J. Nagle's RFC 970, with keys as packets.
//
// Levels keep their promise within each tenant. While at most t tenants have ready keys at a level,
// the key at position p of its tenant and level is handed out within p·t hand-outs of its level,
// and within 16·p·t of all. Any 16·t hand-outs include each tenant's key that had been ready for
// longest. Retries, too, go round: each tenant has one of t turns of Options.RetryRate.
//
// Hand-outs count, not the time they take: a tenant that is alone can occupy all workers. A delayed
// key has no place before it is ready. When many delays end together, at least 16 keys become ready
// for each hand-out.
//
// tenantOf returns the name of a key's tenant; "" is a name, too. A key keeps its tenant as long as
// it is in the queue. Add and AddWith call tenantOf on their goroutine, without the queue's lock.
// If it panics, they do, and the queue is unchanged. If tenantOf is nil, NewFair is [New].
func NewFair[K comparable](opts Options, tenantOf func(key K) string) *Queue[K] {
	q := New[K](opts)
	if tenantOf != nil {
		q.tenantOf, q.tenants = tenantOf, map[string]*tenant[K]{}
	}
	return q
}

// tenant has the ready and paced keys of a tenant. It exists while any key of it is in the queue.
type tenant[K comparable] struct {
	name  string
	keys  int // in any state
	lines [lines]struct {
		first *entry[K] // the only one in the line of all tenants
		rest  list[K]   // behind it
	}
}

// lines is the number of lines of a queue: one for each level, and one of paced keys.
const lines = levels + 1

// line is a queue of keys that is fair to tenants. Its list has the first key of each tenant; a
// removed one is followed, at the end, by its tenant's next key. Keys without a tenant are all in
// the list.
type line[K comparable] struct {
	list[K]
	rest   int   // keys that are not in the list
	number uint8 // in tenant.lines
}

func (l *line[K]) len() int { return l.n + l.rest }

func (l *line[K]) push(e *entry[K]) {
	if e.tenant != nil {
		own := &e.tenant.lines[l.number]
		if own.first != nil {
			own.rest.push(e)
			l.rest++
			return
		}
		own.first = e
	}
	l.list.push(e)
}

func (l *line[K]) remove(e *entry[K]) {
	if e.tenant == nil {
		l.list.remove(e)
		return
	}
	own := &e.tenant.lines[l.number]
	if own.first != e {
		own.rest.remove(e)
		l.rest--
		return
	}
	l.list.remove(e)
	if own.first = own.rest.first; own.first != nil {
		own.rest.remove(own.first)
		l.rest--
		l.list.push(own.first)
	}
}

// oldest returns the key that has been ready for longest, or nil.
func (l *line[K]) oldest() (oldest *entry[K]) {
	for e := l.first; e != nil; e = e.next {
		if oldest == nil || e.since < oldest.since {
			oldest = e
		}
		if e.tenant == nil {
			break // keys without a tenant are in the order of time
		}
	}
	return oldest
}

func (q *Queue[K]) joinTenantLocked(e *entry[K], name string) {
	t := q.tenants[name]
	if t == nil {
		t = &tenant[K]{name: name}
		q.tenants[name] = t
	}
	t.keys++
	e.tenant = t
}

func (q *Queue[K]) leaveTenantLocked(e *entry[K]) {
	if e.tenant.keys--; e.tenant.keys == 0 {
		delete(q.tenants, e.tenant.name)
	}
}
