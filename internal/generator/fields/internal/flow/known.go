// SPDX-License-Identifier: Apache-2.0

package flow

import "strings"

// RuntimePath is the prefix of the import paths of our runtime.
const RuntimePath = "github.com/informer-gen/informer-gen/runtime/"

// cacheTypes are listers, informers and the like that aren't recognized by name.
var cacheTypes = set(
	"k8s.io/client-go/informers.SharedInformerFactory",
	"k8s.io/client-go/tools/cache.GenericLister",
	"k8s.io/client-go/tools/cache.GenericNamespaceLister",
	"k8s.io/client-go/tools/cache.Indexer",
	"k8s.io/client-go/tools/cache.SharedIndexInformer",
	"k8s.io/client-go/tools/cache.SharedInformer",
	"k8s.io/client-go/tools/cache.Store",
	"k8s.io/client-go/tools/cache.ThreadSafeStore",
	"k8s.io/client-go/listers.ResourceIndexer",
	"sigs.k8s.io/controller-runtime/pkg/cache.Cache",
	"sigs.k8s.io/controller-runtime/pkg/cache.Informer",
	"sigs.k8s.io/controller-runtime/pkg/client.Reader",
	"sigs.k8s.io/controller-runtime/pkg/cluster.Cluster",
	RuntimePath+"controller.Kind",
	RuntimePath+"informer.SharedIndexInformer",
	RuntimePath+"informer/factories.Kind",
	RuntimePath+"lister.ClusterLister",
	RuntimePath+"lister.Lister",
	RuntimePath+"lister.NamespaceLister",
	RuntimePath+"lister.Resource",
	RuntimePath+"store.Index",
	RuntimePath+"store.AnyIndex",
	RuntimePath+"store.Reader",
	RuntimePath+"store.Snapshot",
	RuntimePath+"store.Store",
)

func isCachePackage(path string) bool {
	for _, prefix := range []string{
		"k8s.io/client-go/tools/cache", "k8s.io/client-go/informers", "k8s.io/client-go/listers", "sigs.k8s.io/controller-runtime/pkg/",
	} {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return strings.HasPrefix(path, RuntimePath) && !strings.HasPrefix(path, RuntimePath+"object") &&
		!strings.HasPrefix(path, RuntimePath+"source") && !strings.HasPrefix(path, RuntimePath+"workqueue") && !strings.HasPrefix(path, RuntimePath+"writer")
}

var comparisons = set("reflect", "k8s.io/apimachinery/pkg/api/equality", "k8s.io/apimachinery/pkg/conversion",
	"k8s.io/apimachinery/third_party/forked/golang/reflect", "github.com/google/go-cmp/cmp")

type knowledge struct {
	// reads are the paths that it reads in objects: in its arguments, and in objects handed out by
	// arguments.
	reads []string
	// kindArg is the number of an argument whose type names a kind; it reads objects of that kind
	// instead of its arguments. 0 means none. ofAnyKind means that it reads objects of any kind.
	kindArg   int
	ofAnyKind bool
	// keeps means that the receiver stores its arguments, and returns them later.
	keeps bool
	// filledArg is the number of the argument that it fills with objects of a cache, optionsArg
	// that of the argument with controller-runtime's list options; 0 for none.
	filledArg, optionsArg int
	// wholeReason says why it uses all of the objects that fill the argument; "" if it doesn't.
	wholeReason string
	usesNothing bool
}

var (
	readsName      = &knowledge{reads: []string{".metadata.name", ".metadata.namespace"}}
	readsReference = &knowledge{reads: []string{".apiVersion", ".kind", ".metadata.name", ".metadata.namespace", ".metadata.resourceVersion", ".metadata.uid"}}
	readsOwners    = &knowledge{reads: []string{ownersPath}}
	readsFinalizer = &knowledge{reads: []string{".metadata.finalizers"}}
	ownsKind       = &knowledge{reads: []string{ownersPath}, kindArg: 1}
	container      = &knowledge{keeps: true}
	createsOr      = &knowledge{filledArg: 2, wholeReason: "compared and written back"}
)

// known has functions that programs often call with objects. Methods are listed behind the names of
// their types; a bare type stands for all its methods.
var known = map[string]*knowledge{
	"k8s.io/client-go/tools/cache.DeletionHandlingMetaNamespaceKeyFunc": readsName,
	"k8s.io/client-go/tools/cache.DeletionHandlingObjectToName":         readsName,
	"k8s.io/client-go/tools/cache.MetaNamespaceKeyFunc":                 readsName,
	"k8s.io/client-go/tools/cache.MetaObjectToName":                     readsName,
	"k8s.io/client-go/tools/cache.ObjectToName":                         readsName,
	"k8s.io/klog/v2.KObj":      readsName,
	"k8s.io/klog/v2.KObjSlice": readsName,
	"k8s.io/klog/v2.KObjs":     readsName,
	"sigs.k8s.io/controller-runtime/pkg/client.ObjectKeyFromObject": readsName,
	RuntimePath + "object.KeyOf":                                    readsName,

	"k8s.io/client-go/tools/events.EventRecorder.Eventf":          readsReference,
	"k8s.io/client-go/tools/internal/events.EventRecorder.Eventf": readsReference,
	"k8s.io/client-go/tools/record.EventRecorder.AnnotatedEventf": readsReference,
	"k8s.io/client-go/tools/record.EventRecorder.Event":           readsReference,
	"k8s.io/client-go/tools/record.EventRecorder.Eventf":          readsReference,
	"k8s.io/client-go/tools/reference.GetReference":               readsReference,
	RuntimePath + "object.TokenOf":                                readsReference,
	RuntimePath + "writer.Writer.Delete":                          readsReference,

	RuntimePath + "controller.GenerationChanged":          {reads: []string{".metadata.generation"}},
	RuntimePath + "controller.LabelsChanged":              {reads: []string{labelsPath}},
	RuntimePath + "controller.Owns":                       readsOwners,
	RuntimePath + "object.ControllerUID":                  readsOwners,
	RuntimePath + "object.OwnerNames":                     readsOwners,
	"k8s.io/client-go/tools/cache.MetaNamespaceIndexFunc": readsName,

	"sigs.k8s.io/controller-runtime/pkg/builder.Builder.Owns":                ownsKind,
	"sigs.k8s.io/controller-runtime/pkg/builder.TypedBuilder.Owns":           ownsKind,
	"sigs.k8s.io/controller-runtime/pkg/handler.EnqueueRequestForOwner":      {reads: []string{ownersPath}, ofAnyKind: true},
	"sigs.k8s.io/controller-runtime/pkg/handler.TypedEnqueueRequestForOwner": {reads: []string{ownersPath}, ofAnyKind: true},
	"sigs.k8s.io/controller-runtime/pkg/predicate.LabelSelectorPredicate":    {reads: []string{labelsPath}, ofAnyKind: true},

	"reflect.TypeOf":     {usesNothing: true},
	"slices.overlaps":    {usesNothing: true}, // it compares addresses
	"sort.Slice":         {usesNothing: true},
	"sort.SliceIsSorted": {usesNothing: true},
	"sort.SliceStable":   {usesNothing: true},

	RuntimePath + "object.NoMeta": {usesNothing: true}, // it has no fields

	// Their methods call the functions in their fields.
	"k8s.io/client-go/tools/cache.FilteringResourceEventHandler":     {usesNothing: true},
	"k8s.io/client-go/tools/cache.ResourceEventHandlerDetailedFuncs": {usesNothing: true},
	"k8s.io/client-go/tools/cache.ResourceEventHandlerFuncs":         {usesNothing: true},

	"container/list.Element": container,
	"container/list.List":    container,
	"container/list.New":     container,
	"sync.Map":               container,
	"sync.Pool":              container,
	"sync/atomic.Pointer":    container,
	"sync/atomic.Value":      container,

	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil.AddFinalizer":              readsFinalizer,
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil.ContainsFinalizer":         readsFinalizer,
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil.RemoveFinalizer":           readsFinalizer,
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil.HasControllerReference":    readsOwners,
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil.RemoveControllerReference": readsOwners,
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil.RemoveOwnerReference":      readsOwners,
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil.SetControllerReference":    readsOwners,
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil.SetOwnerReference":         readsOwners,
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil.CreateOrPatch":             createsOr,
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil.CreateOrUpdate":            createsOr,

	"sigs.k8s.io/controller-runtime/pkg/client.Writer.Delete": readsReference,

	"sigs.k8s.io/controller-runtime/pkg/client.Reader.Get":  {filledArg: 2},
	"sigs.k8s.io/controller-runtime/pkg/client.Reader.List": {filledArg: 1, optionsArg: 2},
}
