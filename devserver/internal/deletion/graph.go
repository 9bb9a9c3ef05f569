// SPDX-License-Identifier: Apache-2.0

package deletion

import (
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// object is an immutable summary of an object.
type object struct {
	resource        Resource
	namespace, name string
	uid             types.UID
	owners          []metav1.OwnerReference
	deleting        bool
	finalizers      []string
}

// waits reports whether the object is deleted and waits for its dependents to go or be orphaned.
func (o *object) waits(finalizer string) bool {
	return o != nil && o.deleting && slices.Contains(o.finalizers, finalizer)
}

func (o *object) matches(ref metav1.OwnerReference, namespace string) bool {
	if o == nil || o.uid != ref.UID || o.name != ref.Name || o.resource.Kind != ref.Kind {
		return false
	}
	return o.resource.Group == schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).Group && (!o.resource.Namespaced || o.namespace == namespace)
}

// graph has all objects by UID, with their dependents.
type graph struct {
	mu         sync.Mutex
	objects    map[types.UID]*object                // mu guards it
	dependents map[types.UID]map[types.UID]struct{} // by owner, also unknown ones; mu guards it
}

func newGraph() *graph {
	return &graph{objects: map[types.UID]*object{}, dependents: map[types.UID]map[types.UID]struct{}{}}
}

// put adds an object or replaces its earlier state, and returns the UIDs of affected objects.
func (g *graph) put(o *object) (affected []types.UID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	affected = []types.UID{o.uid}
	if old := g.objects[o.uid]; old != nil {
		for _, owner := range old.owners {
			g.unlinkLocked(owner.UID, o.uid)
			affected = append(affected, owner.UID) // may wait for dependents, and has one less
		}
	}
	g.objects[o.uid] = o
	for _, owner := range o.owners {
		if g.dependents[owner.UID] == nil {
			g.dependents[owner.UID] = map[types.UID]struct{}{}
		}
		g.dependents[owner.UID][o.uid] = struct{}{}
	}
	return affected
}

func (g *graph) remove(uid types.UID) (affected []types.UID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for dependent := range g.dependents[uid] {
		affected = append(affected, dependent)
	}
	if o := g.objects[uid]; o != nil {
		for _, owner := range o.owners {
			g.unlinkLocked(owner.UID, uid)
			affected = append(affected, owner.UID)
		}
	}
	delete(g.objects, uid)
	return affected
}

func (g *graph) unlinkLocked(owner, dependent types.UID) {
	delete(g.dependents[owner], dependent)
	if len(g.dependents[owner]) == 0 {
		delete(g.dependents, owner)
	}
}

// get returns nil for an unknown object.
func (g *graph) get(uid types.UID) *object {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.objects[uid]
}

func (g *graph) dependentsOf(uid types.UID) (found []*object) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for dependent := range g.dependents[uid] {
		found = append(found, g.objects[dependent])
	}
	return found
}
