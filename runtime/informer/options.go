// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/settings"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// Option configures one informer or, given to a factory, sets the default of all its informers.
// [New] refuses options whose setting its Source determines. A call that gets a wrong option
// returns an error or, if it can't, the factory's Start does.
type Option interface {
	// String returns the name of the function that made the option.
	String() string
	// Apply is called by this module only.
	Apply(*settings.Settings, settings.Scope) error
}

// WithNamespace restricts informers to one or several namespaces. "", the default, means all of
// them. A namespace given twice counts once; the order has no meaning. No namespace at all is an
// error, and so is "" among several. Informers made with factories.WithClusterScope ignore the
// namespaces of their factory. New refuses the option.
//
// An informer of several namespaces reads each by requests of its own, so the account needs no
// right to read others. All objects are in one store, with one set of handlers and indexes, and
// share equal parts. It lists at most 16 namespaces at a time; the next one starts when one of them
// has synced or failed, or after two seconds. So a namespace that hangs or is forbidden keeps no
// other from syncing. [SharedIndexInformer.AddNamespace] and [SharedIndexInformer.RemoveNamespace]
// change the set later.
func WithNamespace(namespaces ...string) Option {
	namespaces = slices.Clone(namespaces)
	return settings.New("WithNamespace", settings.InFactory|settings.InFor, func(s *settings.Settings) error {
		return s.SetNamespaces(namespaces)
	})
}

// WithNamespaceSelector restricts informers to the namespaces whose labels match, now or later. A
// namespace that begins to match is read as if [SharedIndexInformer.AddNamespace] had added it. One
// that no longer matches, or is deleted, goes as with [SharedIndexInformer.RemoveNamespace]: its
// objects leave the store, and handlers get an OnDelete with an unknown final state for each. The
// order between namespaces, and between informers, is not defined.
//
// The informer has synced when the first list of the matching namespaces has arrived and these have
// synced; with none, it is empty. Until then, reads return [ErrNotSynced], and errors and Status
// have the reason. HasSynced and WaitForCacheSync treat later namespaces as AddNamespace does.
//
// All informers of a factory with one selector share one list and watch of the Namespaces. It asks
// for metadata, keeps only names, and runs while one of the informers does. The factory's tuning,
// formats, error handler, logger and metrics apply to it. The account needs the verbs list and
// watch for namespaces, besides those for the objects. Without them nothing is read.
//
// The option replaces the namespaces of WithNamespace from a factory or WithKind, and the other way
// round. Both in one call are an error, and so is a selector that is nil, matches every namespace
// (use WithNamespace("")), or none. Informers made with factories.WithClusterScope ignore the
// selector of their factory. AddNamespace and RemoveNamespace return an error. New refuses the
// option.
func WithNamespaceSelector(selector labels.Selector) Option {
	return settings.New("WithNamespaceSelector", settings.InFactory|settings.InFor, func(s *settings.Settings) error {
		return s.SetNamespaceSelector(selector)
	})
}

// WithLabelSelector restricts informers to objects whose labels match. nil and labels.Nothing are
// errors; labels.Everything is the default. New refuses the option.
func WithLabelSelector(selector labels.Selector) Option {
	return settings.New("WithLabelSelector", settings.InFactory|settings.InFor, func(s *settings.Settings) error {
		switch {
		case selector == nil:
			return errors.New("the selector is nil; use labels.Everything")
		case selector.String() == "" && !selector.Empty():
			return errors.New("the selector matches no object")
		}
		s.LabelSelector = selector.String()
		return nil
	})
}

// WithFieldSelector restricts informers to objects whose fields match. The server evaluates the
// selector and refuses fields it does not support. nil and fields.Nothing are errors;
// fields.Everything is the default. New refuses the option.
func WithFieldSelector(selector fields.Selector) Option {
	return settings.New("WithFieldSelector", settings.InFactory|settings.InFor, func(s *settings.Settings) error {
		switch {
		case selector == nil:
			return errors.New("the selector is nil; use fields.Everything")
		case selector.String() == "" && !selector.Empty():
			return errors.New("the selector matches no object")
		}
		s.FieldSelector = selector.String()
		return nil
	})
}

// WithShardSelector restricts informers to a shard: the objects whose UID, for example, has a hash
// in a given range (KEP-5866, alpha; the server's feature gate ShardedListAndWatch). The form is
// that of ShardSelector in [source.Options]: the String of a selector of
// k8s.io/apimachinery/pkg/sharding. "", the default, selects everything. New refuses the option.
func WithShardSelector(selector string) Option {
	return settings.New("WithShardSelector", settings.InFactory|settings.InFor, func(s *settings.Settings) error {
		s.ShardSelector = selector
		return nil
	})
}

// WithFormats sets the formats to request from the server, in order of preference. Without formats,
// and by default, these are protobuf, if the Go type supports it, and JSON; see [source.Options].
// New refuses the option.
func WithFormats(formats ...source.Format) Option {
	formats = slices.Clone(formats)
	return settings.New("WithFormats", settings.InFactory|settings.InFor, func(s *settings.Settings) error {
		s.Formats = formats
		return nil
	})
}

// WithoutManagedFields leaves metadata.managedFields out of objects. API servers from Kubernetes
// 1.38 on with the feature gate ManagedFieldsOptOut (alpha, off by default; KEP-5958) don't send
// them; see DropManagedFields of [source.Options]. From others they are dropped during decoding. In
// either case they never take memory. Objects may be written back without them: an API server then
// keeps the owners of their fields. factories.For can't cancel a factory's. New refuses the option.
func WithoutManagedFields() Option {
	return settings.New("WithoutManagedFields", settings.InFactory|settings.InFor, func(s *settings.Settings) error {
		s.DropManagedFields = true
		return nil
	})
}

// WithoutAnnotations drops the annotations with these keys during decoding, for example
// "kubectl.kubernetes.io/last-applied-configuration". A program must not write such objects back by
// Update. factories.For adds its keys to the factory's, and can't cancel those. An empty key is an
// error. New refuses the option.
func WithoutAnnotations(keys ...string) Option {
	keys = slices.Clone(keys)
	return settings.New("WithoutAnnotations", settings.InFactory|settings.InFor, func(s *settings.Settings) error {
		if slices.Contains(keys, "") {
			return errors.New("a key is empty")
		}
		all := append(slices.Clone(s.DropAnnotations), keys...)
		slices.Sort(all)
		s.DropAnnotations = slices.Compact(all)
		return nil
	})
}

// WithoutSharing makes each object own all the memory it refers to. By default, equal parts of
// objects (maps, slices, the targets of pointers) are stored once, which takes less memory and less
// time. Cached objects are read-only in either case, but with this option a program that changes an
// object by mistake makes no other object wrong. Equal strings, which can't be changed, may still
// be stored once. factories.For can't cancel a factory's. A Source given to New may ignore the
// option.
func WithoutSharing() Option {
	return settings.New("WithoutSharing", settings.InFactory|settings.InFor|settings.InNew, func(s *settings.Settings) error {
		s.Unshared = true
		return nil
	})
}

// WithTransform sets a function that is called with each object from the server before it is
// stored, once, on the goroutine that reads the Source. Indexes, handlers and readers see only its
// result. It may change its argument, which no other code has, or return another object of the same
// Go type. The store keeps a copy of the result, which shares equal parts with other objects and
// keeps no memory of removed parts. (Except in untyped objects: a string of up to 256 bytes cut out
// of a longer one keeps that one alive; strings.Clone helps.)
//
// Key, UID and resourceVersion must stay. An error, a panic, or a result that breaks these rules is
// a [source.TransformError], and is treated like a response that can't be decoded: Status and
// [WithErrorHandler] report it, and the store stays as it is. A nil transform, the default, changes
// nothing.
//
// T is the informer's type, or object.Object, which fits every informer and is the only one a
// factory takes. To drop fields before they are decoded, use [WithoutManagedFields] and
// [WithoutAnnotations].
func WithTransform[T object.Object](transform func(obj T) (T, error)) Option {
	return withTransform(settings.TypeOf((*T)(nil)), eraseTransform(transform), settings.CodeOf(transform))
}

// WithCheckpoint keeps the state of informers in files in dir, one for each informer, or for each
// of its namespaces. An informer that starts reads its file instead of listing, and watches from
// the file's resourceVersion; it lists only if the server has forgotten that version, or has gone
// back behind it. A missing dir is made; "", the default, means no checkpoint.
//
// The objects appear in the store, and in handlers as initial ones, once the server has accepted
// the version: with the first event of the watch or, after half a second of silence, by its own
// version, which the informer then requests. Until then the informer has not synced. Later changes
// follow as events.
//
// The files are written in the background: a second after the start if there is none, then at most
// every 10 s and in at most a fiftieth of the time, and when the informer stops. If only the
// resourceVersion has changed, only a small file is written. A crash at any moment leaves a whole
// file. Only the user of the process may read the files. Objects are written in protobuf, if their
// type has it, else in JSON; data that a transform put into fields unknown to these formats is
// lost.
//
// A file is ignored, and that is logged, if it is damaged, if its server, collection, Go type or
// options that change objects differ, or if its objects were transformed by another function or
// executable. Values captured by a transform, such as a flag, are not compared: give each value a
// directory of its own. A directory that can't be written is logged, and shown in Status; the
// informer goes on.
//
// Secrets are refused, since the files are plain text, unless confidential names them: "secrets".
// New refuses a Source without the methods Identity and Codec of [source.HTTP].
func WithCheckpoint(dir string, confidential ...string) Option {
	confidential = slices.Clone(confidential)
	return settings.New("WithCheckpoint", settings.InFactory|settings.InFor|settings.InNew, func(s *settings.Settings) error {
		return s.SetCheckpoint(dir, confidential)
	})
}

// WithTuning sets page sizes, the use of watch-lists, timeouts, and the waits after failures. A
// zero field, also of Backoff, changes nothing. So factories.For refines the factory's tuning, and
// two calls of WithTuning add up. The defaults documented in [reflector.Tuning] and
// [reflector.Backoff] can be given too, to cancel a factory's value. PageSize and DisableWatchList
// have no such default, so factories.For can't cancel the factory's.
func WithTuning(tuning reflector.Tuning) Option {
	return settings.New("WithTuning", settings.InFactory|settings.InFor|settings.InNew, func(s *settings.Settings) error {
		return s.Refine(tuning)
	})
}

// WithOptionalResource makes informers wait for a resource that the server doesn't have (404), such
// as one whose CustomResourceDefinition is not installed, instead of failing. The informer asks the
// server again at intervals of Backoff.Max of [WithTuning], by default 30 s, less a random part of
// up to half, so it begins within that time once the resource exists.
//
// While it waits, Status has the state [reflector.StateAbsent]. The log has one line when the wait
// begins and one when it ends, both information. Error handlers and metrics get no failure. Metrics
// count the informer as synced and watching. WaitForCacheSync, inspect.Ready and controllers don't
// wait for it. But HasSynced is false, and so reads return [ErrNotSynced], unless
// [WithEmptyBeforeSync] makes them find nothing; reads that can't return an error find nothing.
//
// When an API server begins to serve a resource, it may answer 429 or 410 once. That is a failure,
// and tried again.
//
// If the resource goes away later, handlers get the deletions that the server sends. The informer
// stays synced, and waits again. Objects whose deletion it missed stay until the resource is back;
// then it reads the full state.
//
// An account without the right to list and watch gets 403, whether the resource exists or not; that
// is a failure. factories.For can't cancel a factory's.
func WithOptionalResource() Option {
	return settings.New("WithOptionalResource", settings.InFactory|settings.InFor|settings.InNew, func(s *settings.Settings) error {
		s.Optional = true
		return nil
	})
}

// WithErrorHandler sets a function that is called with the informer's name and each failure of a
// list or watch ([reason.Of] returns its kind), and for each object for which an index function
// panicked. It is called on the goroutine that hit the failure, possibly by several at once, and
// must not block. It can't influence the informer. nil, the default, means none. Failures are
// logged, and appear in Status, in either case.
func WithErrorHandler(handle func(informer string, err error)) Option {
	return settings.New("WithErrorHandler", settings.InFactory|settings.InFor|settings.InNew, func(s *settings.Settings) error {
		s.OnError, s.OnErrorCode = handle, settings.CodeOf(handle)
		return nil
	})
}

// WithLogger sets the logger of informers. The default is the one in the context of Run, Acquire or
// Start (klog.FromContext).
func WithLogger(logger klog.Logger) Option {
	return settings.New("WithLogger", settings.InFactory|settings.InFor|settings.InNew, func(s *settings.Settings) error {
		s.Logger = &logger
		return nil
	})
}

// WithMetrics sets the provider for an informer's metrics; package prometheus below package metrics
// has one. nil, the default, means none, and costs nothing. Controllers that watch the informer use
// the provider for their own metrics, too, if it is a metrics.ControllerProvider. Given to a
// factory, it also serves the factory's manager: see package manager.
func WithMetrics(provider metrics.Provider) Option {
	return settings.New("WithMetrics", settings.InFactory|settings.InFor|settings.InNew, func(s *settings.Settings) error {
		s.Metrics = provider
		if settings.IsNil(provider) {
			s.Metrics = nil
		}
		return nil
	})
}

// WithEmptyBeforeSync makes an unsynced informer look like one without objects, as in client-go:
// Get of its listers returns a NotFound error, and lists are empty, without a log line. The default
// is false: Get and List return an error that wraps [ErrNotSynced], and the first other read is
// logged.
func WithEmptyBeforeSync(enabled bool) Option {
	return settings.New("WithEmptyBeforeSync", settings.InFactory|settings.InFor|settings.InNew, func(s *settings.Settings) error {
		s.EmptyBeforeSync = enabled
		return nil
	})
}

// WithMutationDetector finds code that changes cached objects, which are shared and read-only.
// report is called with each mutation on the goroutine that finds it, the handler's right after the
// callback or another one, possibly by several at once, and must not block. If report is nil, an
// error is logged instead. The detector keeps a deep copy of every object and compares all of them
// again and again, so it is for tests and CI, not for production.
//
// Without this option, client-go's environment variable KUBE_CACHE_MUTATION_DETECTOR=true turns the
// detector on for every informer made while it is set; a mutation then ends the process with a
// panic, as in client-go, so that a CI job fails.
func WithMutationDetector(report func(Mutation)) Option {
	return settings.New("WithMutationDetector", settings.InFactory|settings.InFor|settings.InNew, func(s *settings.Settings) error {
		s.DetectMutations, s.Report, s.ReportCode = true, eraseReport(report), settings.CodeOf(report)
		return nil
	})
}

// WithName sets the name of an informer in logs, errors, metrics and Status. The default for
// informers made by New is the Go type; for a factory's it is "resource.group/version", followed by
// the restrictions that factories.For added to the factory's, and by the content of a type that may
// be of any kind: `pods/v1 in namespace "shop" (metadata)`. In a factory, informers of different
// names are different informers.
func WithName(name string) Option {
	return settings.New("WithName", settings.InFor|settings.InNew, func(s *settings.Settings) error {
		if name == "" {
			return errors.New("the name is empty")
		}
		s.Name = name
		return nil
	})
}

// WithIndexes sets the indexes of one informer. factories.For also adds them to an existing
// informer. An index given twice counts once; two indexes of one name are an error. A factory
// refuses the option, because an index is for one type.
func WithIndexes[T object.Object](indexes ...store.AnyIndex[T]) Option {
	return withIndexes(settings.TypeOf((*T)(nil)), eraseIndexes(indexes))
}
