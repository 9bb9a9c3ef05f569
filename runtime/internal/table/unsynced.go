// SPDX-License-Identifier: Apache-2.0

package table

// Unsynced is implemented by an informer: it fills the table and may not have all objects yet. Its
// methods may be called by any number of goroutines, at any time. They are called only by reads
// that have found nothing, or that may have missed objects.
type Unsynced interface {
	// Lacking returns why objects of a namespace, or for "" of any, are not in the table yet; nil
	// if they are.
	Lacking(namespace string) error
	// Missed is called when a read that returns no error may have missed objects.
	Missed(namespace string)
}

// SetUnsynced sets the Unsynced that reads ask about objects they don't find. It must be called
// before the table is used. A table without one has all objects.
func (t *Table) SetUnsynced(u Unsynced) { stateOf(t.version.Load()).unsynced = u }

// Lacking returns why objects of a namespace, or of any for "", may be missing in the table; nil if
// none can be missing.
func (v *Version) Lacking(namespace string) error {
	if s := stateOf(v); s != nil && s.unsynced != nil {
		return s.unsynced.Lacking(namespace)
	}
	return nil
}

// Missed reports to the Unsynced that a read which returns no error may have missed objects of a
// namespace, or of any for "".
func (v *Version) Missed(namespace string) {
	if s := stateOf(v); s != nil && s.unsynced != nil {
		s.unsynced.Missed(namespace)
	}
}
