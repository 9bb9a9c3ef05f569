// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// compareTrees returns the differences between our informers and the project's.
func compareTrees(ours, theirs tree) []string {
	var different []string
	for _, name := range union(ours, theirs) {
		our, weHave := ours[name]
		their, theyHave := theirs[name]
		switch {
		case !weHave:
			different = append(different, name+": we have none")
		case !theyHave:
			different = append(different, name+": only we have it")
		case our != their:
			different = append(different, fmt.Sprintf("%s: ours is %+v, theirs %+v", name, our, their))
		}
	}
	return different
}

// compareClients returns our informers whose requests differ from those of the typed clients.
func compareClients(ours tree, clients map[string]client) []string {
	informers := map[string]client{}
	for _, k := range ours {
		informers[k.Object] = client{k.Resource.Resource, k.Namespaced}
	}
	var different []string
	for _, object := range union(informers, clients) {
		informer, weHave := informers[object]
		client, theyHave := clients[object]
		switch {
		case !weHave:
			different = append(different, object+": there is a client and no informer")
		case !theyHave:
			different = append(different, object+": there is an informer and no client")
		case informer != client:
			different = append(different, fmt.Sprintf("%s: the informer is for %+v, the client for %+v", object, informer, client))
		}
	}
	return different
}

// compareGuesses returns plurals that differ from the guesses of a client without discovery: a REST
// mapper made from a scheme. irregular has the plurals outside of every rule, by kind.
func compareGuesses(ours tree, irregular map[string]string) []string {
	var different []string
	used := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		k := ours[name]
		kind := k.kind()
		want, known := irregular[kind]
		if known {
			used[kind] = true
		} else {
			plural, _ := meta.UnsafeGuessKindToResource(k.Resource.GroupVersion().WithKind(kind))
			want = plural.Resource
		}
		if k.Resource.Resource != want {
			different = append(different, fmt.Sprintf("%s: the resource is %s, the plural of %s is %s", name, k.Resource.Resource, kind, want))
		}
	}
	for kind := range irregular {
		if !used[kind] {
			different = append(different, kind+" is said to be irregular, and isn't there")
		}
	}
	return different
}

// compareDefinitions returns the differences between our informers and the CRDs. without has the
// resources missing in all CRDs.
func compareDefinitions(ours tree, crds map[schema.GroupVersionResource]definition, without []schema.GroupVersionResource) []string {
	informers := map[schema.GroupVersionResource]definition{}
	for _, k := range ours {
		informers[k.Resource] = definition{k.kind(), k.Namespaced}
	}
	var different []string
	for resource := range crds {
		if _, ok := informers[resource]; !ok {
			different = append(different, fmt.Sprintf("%v: there is a CRD and no informer", resource))
		}
	}
	for resource, informer := range informers {
		crd, ok := crds[resource]
		switch {
		case ok == slices.Contains(without, resource):
			different = append(different, fmt.Sprintf("%v: there is an informer; that there is a CRD is %v", resource, ok))
		case ok && informer != crd:
			different = append(different, fmt.Sprintf("%v: the informer is for %+v, the CRD for %+v", resource, informer, crd))
		}
	}
	slices.Sort(different)
	return different
}

// compareSamples returns the informers without a serialized object. The names are
// GROUP.VERSION.KIND.
func compareSamples(ours tree, samples map[string]bool) []string {
	var different []string
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		k := ours[name]
		sample := fmt.Sprintf("%s.%s.%s", cmp.Or(k.Resource.Group, "core"), k.Resource.Version, k.kind())
		if !samples[sample] {
			different = append(different, name+": there is no object "+sample)
		}
	}
	return different
}

// kind is the name of the Go type, and in all of these projects also the kind.
func (k kind) kind() string { return k.Object[strings.LastIndex(k.Object, ".")+1:] }

// union returns the keys of both maps, sorted.
func union[V any](a, b map[string]V) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}
