// SPDX-License-Identifier: Apache-2.0

package storagesuite

import (
	"context"
	"testing"

	"k8s.io/apiserver/pkg/storage"
	suite "k8s.io/apiserver/pkg/storage/testing"
)

// suites are those that are run, by name.
var suites = map[string]func(*testing.T, *store){
	"RunTestCreate":             func(t *testing.T, s *store) { suite.RunTestCreate(t.Context(), t, s, s.isStored) },
	"RunTestCreateWithTTL":      plain(suite.RunTestCreateWithTTL),
	"RunTestCreateWithKeyExist": plain(suite.RunTestCreateWithKeyExist),
	"RunTestGet":                plain(suite.RunTestGet),
	"RunTestKeySchema":          plain(suite.RunTestKeySchema),
	"RunTestStats": func(t *testing.T, s *store) {
		suite.RunTestStats(t.Context(), t, s, codec, s.transformer(), false)
	},

	"RunTestUnconditionalDelete":                        plain(suite.RunTestUnconditionalDelete),
	"RunTestConditionalDelete":                          plain(suite.RunTestConditionalDelete),
	"RunTestDeleteWithSuggestion":                       plain(suite.RunTestDeleteWithSuggestion),
	"RunTestDeleteWithSuggestionAndConflict":            plain(suite.RunTestDeleteWithSuggestionAndConflict),
	"RunTestDeleteWithConflict":                         plain(suite.RunTestDeleteWithConflict),
	"RunTestDeleteWithSuggestionOfDeletedObject":        plain(suite.RunTestDeleteWithSuggestionOfDeletedObject),
	"RunTestValidateDeletionWithSuggestion":             plain(suite.RunTestValidateDeletionWithSuggestion),
	"RunTestValidateDeletionWithOnlySuggestionValid":    plain(suite.RunTestValidateDeletionWithOnlySuggestionValid),
	"RunTestPreconditionalDeleteWithSuggestion":         plain(suite.RunTestPreconditionalDeleteWithSuggestion),
	"RunTestPreconditionalDeleteWithOnlySuggestionPass": plain(suite.RunTestPreconditionalDeleteWithOnlySuggestionPass),
	"RunTestDeleteExpectedTransformOrDecodeError": func(t *testing.T, s *store) {
		for _, read := range unreadable {
			setFailing := s.failing(read)
			suite.RunTestDeleteExpectedTransformOrDecodeError(t.Context(), t, s, setFailing)
			setFailing(false)
		}
	},
	"RunTestDeleteWithConflictAndMissingExpectedTransformOrDecodeError": func(t *testing.T, s *store) {
		suite.RunTestDeleteWithConflictAndMissingExpectedTransformOrDecodeError(t.Context(), t, s, s.failing(unreadable[0]))
	},
	"RunTestDeleteWithSuggestionAndMissingExpectedTransformOrDecodeError": func(t *testing.T, s *store) {
		suite.RunTestDeleteWithSuggestionAndMissingExpectedTransformOrDecodeError(t.Context(), t, s)
	},

	"RunTestGuaranteedUpdate": func(t *testing.T, s *store) {
		suite.RunTestGuaranteedUpdate(t.Context(), t, s, s.isStored)
	},
	"RunTestGuaranteedUpdateWithTTL":                   plain(suite.RunTestGuaranteedUpdateWithTTL),
	"RunTestGuaranteedUpdateChecksStoredData":          transformed(suite.RunTestGuaranteedUpdateChecksStoredData),
	"RunTestGuaranteedUpdateWithConflict":              plain(suite.RunTestGuaranteedUpdateWithConflict),
	"RunTestGuaranteedUpdateWithSuggestionAndConflict": plain(suite.RunTestGuaranteedUpdateWithSuggestionAndConflict),
	"RunTestTransformationFailure":                     transformed(suite.RunTestTransformationFailure),

	"RunTestList": func(t *testing.T, s *store) {
		// as etcd answers: a limit counts at version 0, too
		suite.RunTestList(t.Context(), t, s, s.compactTo, false, nil)
	},
	"RunTestConsistentList": func(t *testing.T, s *store) {
		suite.RunTestConsistentList(t.Context(), t, s, s.increaseVersion, true, true, true)
	},
	"RunTestGetListNonRecursive": func(t *testing.T, s *store) {
		suite.RunTestGetListNonRecursive(t.Context(), t, s.increaseVersion, s)
	},
	"RunTestGetListRecursivePrefix":     plain(suite.RunTestGetListRecursivePrefix),
	"RunTestListContinuation":           called(suite.RunTestListContinuation),
	"RunTestListPaginationRareObject":   called(suite.RunTestListPaginationRareObject),
	"RunTestListContinuationWithFilter": called(suite.RunTestListContinuationWithFilter),
	"RunTestListInconsistentContinuation": func(t *testing.T, s *store) {
		suite.RunTestListInconsistentContinuation(t.Context(), t, s, s.compactTo)
	},
	"RunTestListResourceVersionMatch": transformed(suite.RunTestListResourceVersionMatch),
	"RunTestGetListWithoutErrorAggregation": func(t *testing.T, s *store) {
		suite.RunTestGetListWithoutErrorAggregation(t.Context(), t, s, errCorrupt)
	},
	"RunTestListPaging":          plain(suite.RunTestListPaging),
	"RunTestNamespaceScopedList": plain(suite.RunTestNamespaceScopedList),
	"RunTestCompactRevision": func(t *testing.T, s *store) {
		suite.RunTestCompactRevision(t.Context(), t, s, s.increaseVersion, s.compactTo)
	},

	"RunTestWatch": plain(suite.RunTestWatch),
	"RunTestWatchFromZero": func(t *testing.T, s *store) {
		suite.RunTestWatchFromZero(t.Context(), t, s, s.compactTo)
	},
	"RunTestDeleteTriggerWatch":   plain(suite.RunTestDeleteTriggerWatch),
	"RunTestWatchFromNonZero":     plain(suite.RunTestWatchFromNonZero),
	"RunTestDelayedWatchDelivery": plain(suite.RunTestDelayedWatchDelivery),
	"RunTestWatchError":           transformed(suite.RunTestWatchError),
	"RunTestWatchWithUnsafeDelete": func(t *testing.T, s *store) {
		suite.RunTestWatchWithUnsafeDelete(t.Context(), t, s, errCorrupt)
	},
	"RunTestWatchContextCancel":                 plain(suite.RunTestWatchContextCancel),
	"RunTestWatcherTimeout":                     plain(suite.RunTestWatcherTimeout),
	"RunTestWatchDeleteEventObjectHaveLatestRV": plain(suite.RunTestWatchDeleteEventObjectHaveLatestRV),
	"RunTestWatchInitializationSignal":          plain(suite.RunTestWatchInitializationSignal),
	"RunOptionalTestProgressNotify": func(t *testing.T, s *store) {
		suite.RunOptionalTestProgressNotify(t.Context(), t, s, s.increaseVersion)
	},
	"RunTestClusterScopedWatch":   plain(suite.RunTestClusterScopedWatch),
	"RunTestNamespaceScopedWatch": plain(suite.RunTestNamespaceScopedWatch),
	"RunTestWatchDispatchBookmarkEvents": func(t *testing.T, s *store) {
		suite.RunTestWatchDispatchBookmarkEvents(t.Context(), t, s, true)
	},
	"RunTestOptionalWatchBookmarksWithCorrectResourceVersion": plain(suite.RunTestOptionalWatchBookmarksWithCorrectResourceVersion),
	"RunSendInitialEventsBackwardCompatibility":               plain(suite.RunSendInitialEventsBackwardCompatibility),
	"RunWatchSemantics":                     plain(suite.RunWatchSemantics),
	"RunWatchSemanticInitialEventsExtended": plain(suite.RunWatchSemanticInitialEventsExtended),
	"RunWatchListMatchSingle":               plain(suite.RunWatchListMatchSingle),
	"RunWatchErrorIsBlockingFurtherEvents":  transformed(suite.RunWatchErrorIsBlockingFurtherEvents),
}

// plain is a suite that needs no more than a store.
func plain(run func(context.Context, *testing.T, storage.Interface)) func(*testing.T, *store) {
	return func(t *testing.T, s *store) { run(t.Context(), t, s) }
}

// transformed is a suite that changes what the store writes and reads.
func transformed(run func(context.Context, *testing.T, suite.InterfaceWithPrefixTransformer)) func(*testing.T, *store) {
	return func(t *testing.T, s *store) { run(t.Context(), t, s) }
}

// called is a suite that counts the calls to etcd, of which a cache makes none.
func called(run func(context.Context, *testing.T, storage.Interface, suite.CallsValidation)) func(*testing.T, *store) {
	return func(t *testing.T, s *store) { run(t.Context(), t, s, nil) }
}

// isStored checks what a suite has written.
func (s *store) isStored(ctx context.Context, t *testing.T, key string) {
	t.Helper()
	objects, _, err := s.storage.List(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		if o.Key == cacheKey(key) {
			return
		}
	}
	t.Errorf("the storage has nothing under %s", key)
}

// TestSuites runs each suite on each storage.
func TestSuites(t *testing.T) {
	for name, newRig := range rigs {
		t.Run(name, func(t *testing.T) {
			for suite, run := range suites {
				t.Run(suite, func(t *testing.T) { run(t, newStore(t, newRig(t))) })
			}
		})
	}
}
