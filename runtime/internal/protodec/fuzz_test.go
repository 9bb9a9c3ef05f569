// SPDX-License-Identifier: Apache-2.0

package protodec

import (
	"math/rand/v2"
	"reflect"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"

	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
)

// fuzzTypes together have all peculiarities of the wire format.
var fuzzTypes = []reflect.Type{
	reflect.TypeFor[corev1.Pod](), reflect.TypeFor[corev1.Secret](), reflect.TypeFor[corev1.ResourceQuota](), reflect.TypeFor[corev1.Event](),
	reflect.TypeFor[appsv1.Deployment](), reflect.TypeFor[rbacv1.ClusterRole](), reflect.TypeFor[networkingv1.NetworkPolicy](),
	reflect.TypeFor[authenticationv1.TokenReview](), reflect.TypeFor[resourcev1beta1.ResourceSlice](),
}

// FuzzDecode compares accepted input with Unmarshal, several times, by Decoders that keep parts of
// earlier inputs.
func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(7, 7))
	ways := make([][]*Decoder, len(fuzzTypes))
	for i, typ := range fuzzTypes {
		ways[i] = decoders(f, typ)
		for _, full := range []float64{0.1, 0.3, 0.6} {
			obj := reflect.New(typ)
			(&podtest.Filler{R: r, Full: full}).Fill(obj.Elem())
			data, err := obj.Interface().(protoMessage).Marshal()
			if err != nil {
				f.Fatal(err)
			}
			if len(data) < 5000 {
				f.Add(byte(i), data)
				f.Add(byte(i), mutate(r, data))
			}
		}
	}
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		i := int(which) % len(fuzzTypes)
		for range 3 {
			checkDecode(t, fuzzTypes[i], data, false, ways[i]...)
		}
	})
}
