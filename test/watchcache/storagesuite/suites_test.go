// SPDX-License-Identifier: Apache-2.0

package storagesuite

import (
	"context"
	"testing"

	"k8s.io/apiserver/pkg/storage"
	suite "k8s.io/apiserver/pkg/storage/testing"
)

// suites are the run suites, by name.
var suites = map[string]func(*testing.T, *store){
	"RunTestCreate":             func(t *testing.T, s *store) { suite.RunTestCreate(t.Context(), t, s, s.checkStored) },
	"RunTestCreateWithTTL":      withStore(suite.RunTestCreateWithTTL),
	"RunTestCreateWithKeyExist": withStore(suite.RunTestCreateWithKeyExist),
	"RunTestGet":                withStore(suite.RunTestGet),
	"RunTestKeySchema":          withStore(suite.RunTestKeySchema),
	"RunTestStats": func(t *testing.T, s *store) {
		suite.RunTestStats(t.Context(), t, s, codec, s.transformer(), false)
	},

	"RunTestUnconditionalDelete":                        withStore(suite.RunTestUnconditionalDelete),
	"RunTestConditionalDelete":                          withStore(suite.RunTestConditionalDelete),
	"RunTestDeleteWithSuggestion":                       withStore(suite.RunTestDeleteWithSuggestion),
	"RunTestDeleteWithSuggestionAndConflict":            withStore(suite.RunTestDeleteWithSuggestionAndConflict),
	"RunTestDeleteWithConflict":                         withStore(suite.RunTestDeleteWithConflict),
	"RunTestDeleteWithSuggestionOfDeletedObject":        withStore(suite.RunTestDeleteWithSuggestionOfDeletedObject),
	"RunTestValidateDeletionWithSuggestion":             withStore(suite.RunTestValidateDeletionWithSuggestion),
	"RunTestValidateDeletionWithOnlySuggestionValid":    withStore(suite.RunTestValidateDeletionWithOnlySuggestionValid),
	"RunTestPreconditionalDeleteWithSuggestion":         withStore(suite.RunTestPreconditionalDeleteWithSuggestion),
	"RunTestPreconditionalDeleteWithOnlySuggestionPass": withStore(suite.RunTestPreconditionalDeleteWithOnlySuggestionPass),
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
		suite.RunTestGuaranteedUpdate(t.Context(), t, s, s.checkStored)
	},
	"RunTestGuaranteedUpdateWithTTL":                   withStore(suite.RunTestGuaranteedUpdateWithTTL),
	"RunTestGuaranteedUpdateChecksStoredData":          withTransformer(suite.RunTestGuaranteedUpdateChecksStoredData),
	"RunTestGuaranteedUpdateWithConflict":              withStore(suite.RunTestGuaranteedUpdateWithConflict),
	"RunTestGuaranteedUpdateWithSuggestionAndConflict": withStore(suite.RunTestGuaranteedUpdateWithSuggestionAndConflict),
	"RunTestTransformationFailure":                     withTransformer(suite.RunTestTransformationFailure),

	"RunTestList": func(t *testing.T, s *store) {
		// like etcd: a limit counts also at version 0
		suite.RunTestList(t.Context(), t, s, s.compactTo, false, nil)
	},
	"RunTestConsistentList": func(t *testing.T, s *store) {
		suite.RunTestConsistentList(t.Context(), t, s, s.increaseVersion, true, true, true)
	},
	"RunTestGetListNonRecursive": func(t *testing.T, s *store) {
		suite.RunTestGetListNonRecursive(t.Context(), t, s.increaseVersion, s)
	},
	"RunTestGetListRecursivePrefix":     withStore(suite.RunTestGetListRecursivePrefix),
	"RunTestListContinuation":           withCalls(suite.RunTestListContinuation),
	"RunTestListPaginationRareObject":   withCalls(suite.RunTestListPaginationRareObject),
	"RunTestListContinuationWithFilter": withCalls(suite.RunTestListContinuationWithFilter),
	"RunTestListInconsistentContinuation": func(t *testing.T, s *store) {
		suite.RunTestListInconsistentContinuation(t.Context(), t, s, s.compactTo)
	},
	"RunTestListResourceVersionMatch": withTransformer(suite.RunTestListResourceVersionMatch),
	"RunTestGetListWithoutErrorAggregation": func(t *testing.T, s *store) {
		suite.RunTestGetListWithoutErrorAggregation(t.Context(), t, s, errCorrupt)
	},
	"RunTestListPaging":          withStore(suite.RunTestListPaging),
	"RunTestNamespaceScopedList": withStore(suite.RunTestNamespaceScopedList),
	"RunTestCompactRevision": func(t *testing.T, s *store) {
		suite.RunTestCompactRevision(t.Context(), t, s, s.increaseVersion, s.compactTo)
	},

	"RunTestWatch": withStore(suite.RunTestWatch),
	"RunTestWatchFromZero": func(t *testing.T, s *store) {
		suite.RunTestWatchFromZero(t.Context(), t, s, s.compactTo)
	},
	"RunTestDeleteTriggerWatch":   withStore(suite.RunTestDeleteTriggerWatch),
	"RunTestWatchFromNonZero":     withStore(suite.RunTestWatchFromNonZero),
	"RunTestDelayedWatchDelivery": withStore(suite.RunTestDelayedWatchDelivery),
	"RunTestWatchError":           withTransformer(suite.RunTestWatchError),
	"RunTestWatchWithUnsafeDelete": func(t *testing.T, s *store) {
		suite.RunTestWatchWithUnsafeDelete(t.Context(), t, s, errCorrupt)
	},
	"RunTestWatchContextCancel":                 withStore(suite.RunTestWatchContextCancel),
	"RunTestWatcherTimeout":                     withStore(suite.RunTestWatcherTimeout),
	"RunTestWatchDeleteEventObjectHaveLatestRV": withStore(suite.RunTestWatchDeleteEventObjectHaveLatestRV),
	"RunTestWatchInitializationSignal":          withStore(suite.RunTestWatchInitializationSignal),
	"RunOptionalTestProgressNotify": func(t *testing.T, s *store) {
		suite.RunOptionalTestProgressNotify(t.Context(), t, s, s.increaseVersion)
	},
	"RunTestClusterScopedWatch":   withStore(suite.RunTestClusterScopedWatch),
	"RunTestNamespaceScopedWatch": withStore(suite.RunTestNamespaceScopedWatch),
	"RunTestWatchDispatchBookmarkEvents": func(t *testing.T, s *store) {
		suite.RunTestWatchDispatchBookmarkEvents(t.Context(), t, s, true)
	},
	"RunTestOptionalWatchBookmarksWithCorrectResourceVersion": withStore(suite.RunTestOptionalWatchBookmarksWithCorrectResourceVersion),
	"RunSendInitialEventsBackwardCompatibility":               withStore(suite.RunSendInitialEventsBackwardCompatibility),
	"RunWatchSemantics":                     withStore(suite.RunWatchSemantics),
	"RunWatchSemanticInitialEventsExtended": withStore(suite.RunWatchSemanticInitialEventsExtended),
	"RunWatchListMatchSingle":               withStore(suite.RunWatchListMatchSingle),
	"RunWatchErrorIsBlockingFurtherEvents":  withTransformer(suite.RunWatchErrorIsBlockingFurtherEvents),
}

// withStore runs a suite that needs only a store.
func withStore(run func(context.Context, *testing.T, storage.Interface)) func(*testing.T, *store) {
	return func(t *testing.T, s *store) { run(t.Context(), t, s) }
}

// withTransformer runs a suite that changes the store's transformer.
func withTransformer(run func(context.Context, *testing.T, suite.InterfaceWithPrefixTransformer)) func(*testing.T, *store) {
	return func(t *testing.T, s *store) { run(t.Context(), t, s) }
}

// withCalls runs a suite that counts calls to etcd. A cache makes none.
func withCalls(run func(context.Context, *testing.T, storage.Interface, suite.CallsValidation)) func(*testing.T, *store) {
	return func(t *testing.T, s *store) { run(t.Context(), t, s, nil) }
}

// checkStored checks an object written by a suite.
func (s *store) checkStored(ctx context.Context, t *testing.T, key string) {
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
	t.Errorf("the storage has no object under %s", key)
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
