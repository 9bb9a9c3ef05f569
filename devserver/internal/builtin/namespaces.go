// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	storageerrors "k8s.io/apiserver/pkg/storage/errors"
	"k8s.io/apiserver/pkg/util/dryrun"
)

func namespaceFields(obj runtime.Object) fields.Set {
	return fields.Set{"status.phase": string(obj.(*corev1.Namespace).Status.Phase)}
}

// prepareNamespace makes a new namespace active, and adds its finalizer. Later only the subresource
// finalize changes that.
func prepareNamespace(_ context.Context, obj, old runtime.Object) {
	ns := obj.(*corev1.Namespace)
	if old != nil {
		ns.Spec = *old.(*corev1.Namespace).Spec.DeepCopy()
		return
	}
	ns.Status = corev1.NamespaceStatus{Phase: corev1.NamespaceActive}
	if !slices.Contains(ns.Spec.Finalizers, corev1.FinalizerKubernetes) {
		ns.Spec.Finalizers = append(ns.Spec.Finalizers, corev1.FinalizerKubernetes)
	}
}

// withoutCollection is a store without the deletion of collections, which namespaces don't have.
type withoutCollection interface {
	rest.Storage
	rest.StorageWithReadiness
	rest.Scoper
	rest.SingularNameProvider
	rest.Getter
	rest.Lister
	rest.CreaterUpdater
	rest.Watcher
	rest.TableConvertor
	rest.ResetFieldsStrategy
	rest.StorageVersionProvider
}

// namespaceStorage deletes namespaces in two steps: the first only marks the namespace, so that its
// content is removed.
type namespaceStorage struct {
	withoutCollection
	rest.ShortNamesProvider
	store *registry.Store
}

var _ rest.GracefulDeleter = namespaceStorage{}

func newNamespaceStorage(main mainStorage) namespaceStorage {
	main.ShouldDeleteDuringUpdate = func(_ context.Context, _ string, obj, _ runtime.Object) bool {
		return len(obj.(*corev1.Namespace).Spec.Finalizers) == 0
	}
	return namespaceStorage{main.Store, main, main.Store}
}

func (s namespaceStorage) Delete(ctx context.Context, name string, valid rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	found, err := s.Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		return nil, false, err
	}
	if options == nil {
		options = metav1.NewDeleteOptions(0)
	}
	ns := found.(*corev1.Namespace)
	if want := options.Preconditions; want != nil && want.UID != nil && *want.UID != ns.UID {
		return nil, false, apierrors.NewConflict(corev1.Resource("namespaces"), name,
			fmt.Errorf("the precondition is UID %s, and the namespace has UID %s", *want.UID, ns.UID))
	}
	switch {
	case ns.DeletionTimestamp == nil:
		found, err = s.terminate(ctx, ns, valid, options)
		return found, false, err
	case len(ns.Spec.Finalizers) > 0:
		return ns, false, nil // its content is being removed already
	default:
		return s.store.Delete(ctx, name, valid, options)
	}
}

func (s namespaceStorage) terminate(ctx context.Context, ns *corev1.Namespace, valid rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, error) {
	key, err := s.store.KeyFunc(ctx, ns.Name)
	if err != nil {
		return nil, err
	}
	preconditions := &storage.Preconditions{UID: &ns.UID}
	if options.Preconditions != nil {
		preconditions.ResourceVersion = options.Preconditions.ResourceVersion
	}
	out := s.New()
	err = s.store.Storage.GuaranteedUpdate(ctx, key, out, false, preconditions, storage.SimpleUpdate(func(obj runtime.Object) (runtime.Object, error) {
		if err := valid(ctx, obj); err != nil {
			return nil, err
		}
		now := obj.(*corev1.Namespace)
		if now.DeletionTimestamp == nil {
			at := metav1.Now()
			now.DeletionTimestamp = &at
		}
		now.Status.Phase = corev1.NamespaceTerminating
		return now, nil
	}), dryrun.IsDryRun(options.DryRun), nil)
	return out, storageerrors.InterpretUpdateError(err, corev1.Resource("namespaces"), ns.Name)
}

type finalizeStrategy struct{ strategy }

func (s finalizeStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	onlyChange(obj, old, "Spec")
}

// finalizeStorage serves the subresource finalize, which can only be written.
type finalizeStorage struct{ store *registry.Store }

var _ rest.Updater = finalizeStorage{}

func newFinalizeStorage(main namespaceStorage, k *kind) finalizeStorage {
	store := *main.store
	store.UpdateStrategy = finalizeStrategy{newStrategy(k)}
	store.ResetFieldsStrategy = statusStrategy{newStrategy(k)}
	return finalizeStorage{&store}
}

func (s finalizeStorage) New() runtime.Object { return s.store.New() }
func (s finalizeStorage) Destroy()            {}

func (s finalizeStorage) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, create rest.ValidateObjectFunc, update rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return s.store.Update(ctx, name, info, create, update, false, options)
}
