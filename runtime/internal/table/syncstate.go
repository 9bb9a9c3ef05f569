// SPDX-License-Identifier: Apache-2.0

package table

// SyncState is implemented by an informer, which fills the table and may not have all objects yet.
// Its methods may be called by any number of goroutines, at any time. Only reads that found
// nothing, or may have missed objects, call them.
type SyncState interface {
	// NotSynced returns why objects of a namespace, or for "" of any, are not in the table yet, or
	// nil if they are.
	NotSynced(namespace string) error
	// Missed is called when a read without an error result may have missed objects.
	Missed(namespace string)
}

// SetSyncState sets the table's SyncState, before the table is used. A table without one has all
// objects.
func (t *Table) SetSyncState(s SyncState) { stateOf(t.version.Load()).syncState = s }

// NotSynced asks the SyncState. It returns nil without one.
func (v *Version) NotSynced(namespace string) error {
	if s := stateOf(v); s != nil && s.syncState != nil {
		return s.syncState.NotSynced(namespace)
	}
	return nil
}

// Missed tells the SyncState, if there is one.
func (v *Version) Missed(namespace string) {
	if s := stateOf(v); s != nil && s.syncState != nil {
		s.syncState.Missed(namespace)
	}
}
