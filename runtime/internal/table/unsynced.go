// SPDX-License-Identifier: Apache-2.0

package table

// Unsynced is implemented by an informer, which fills the table and may not have all objects yet.
// Its methods may be called by any number of goroutines, at any time. Only reads that found
// nothing, or may have missed objects, call them.
type Unsynced interface {
	// Lacking returns why objects of a namespace, or for "" of any, are not in the table yet, or
	// nil if they are.
	Lacking(namespace string) error
	// Missed is called when a read without an error result may have missed objects.
	Missed(namespace string)
}

// SetUnsynced sets the table's Unsynced, before the table is used. A table without one has all
// objects.
func (t *Table) SetUnsynced(u Unsynced) { stateOf(t.version.Load()).unsynced = u }

// Lacking asks the Unsynced. It returns nil without one.
func (v *Version) Lacking(namespace string) error {
	if s := stateOf(v); s != nil && s.unsynced != nil {
		return s.unsynced.Lacking(namespace)
	}
	return nil
}

// Missed tells the Unsynced, if there is one.
func (v *Version) Missed(namespace string) {
	if s := stateOf(v); s != nil && s.unsynced != nil {
		s.unsynced.Missed(namespace)
	}
}
