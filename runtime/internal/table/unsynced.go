// SPDX-License-Identifier: Apache-2.0

package table

// Unsynced is what fills a table from elsewhere, and may not have brought everything yet. Its
// methods may be called by any number of goroutines, at any time; they are called only by reads
// that have found nothing, or that may have missed something.
type Unsynced interface {
	// Lacking returns why objects of a namespace, or for "" of any, are not in the table yet; nil
	// if they are.
	Lacking(namespace string) error
	// Missed is told that a read which returns no error wanted them.
	Missed(namespace string)
}

// SetUnsynced sets who is asked about what is not found. It has to be called before the table is
// used; a table that nothing was set for has all that there is.
func (t *Table) SetUnsynced(u Unsynced) { stateOf(t.version.Load()).unsynced = u }

// Lacking returns why objects of a namespace, or for "" of any, are not in the table yet; nil if
// they are.
func (v *Version) Lacking(namespace string) error {
	if s := stateOf(v); s != nil && s.unsynced != nil {
		return s.unsynced.Lacking(namespace)
	}
	return nil
}

// Missed says that a read which returns no error may have missed objects of a namespace, or for ""
// of any.
func (v *Version) Missed(namespace string) {
	if s := stateOf(v); s != nil && s.unsynced != nil {
		s.unsynced.Missed(namespace)
	}
}
