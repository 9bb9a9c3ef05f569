// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// FuzzKeep reads any list of Pods without and with Keep. What can be decoded is selected by its
// metadata, however it is written.
func FuzzKeep(f *testing.F) {
	texts := keepTexts(false)
	for i, format := range allFormats {
		for n := range texts {
			f.Add(uint8(i), podtest.Transcode(f, []byte(podtest.List("7", texts[n])), format))
		}
	}
	for n := range texts {
		f.Add(uint8(0), []byte(podtest.List("7", texts[n:min(n+3, len(texts))]...)))
	}
	codecs := []*Codec{mustCodec(f, Options{}, newPod), mustCodec(f, podOptions, func() object.Object { return newPlacement() })}
	f.Fuzz(func(t *testing.T, n uint8, body []byte) {
		format := allFormats[int(n)%len(allFormats)]
		list := func(c *Codec, promises Promises) (uids []string, result List, err error) {
			r := &reader[object.Object]{codec: c, format: format, body: bodyOf(body)}
			result, err = r.List(t.Context(), promises, func(obj object.Object) error {
				if pod, ok := obj.(*corev1.Pod); ok && promises.Keep == nil && !keepHalf(object.MetaOf(pod)) {
					return nil
				}
				uids = append(uids, string(obj.GetUID()))
				return nil
			})
			return uids, result, err
		}
		want, _, err := list(codecs[0], Promises{})
		if err != nil {
			want = nil
		}
		for _, c := range codecs {
			got, result, errKeep := list(c, Promises{Keep: keepHalf, KeepByController: true})
			if err == nil && (errKeep != nil || !slices.Equal(got, want)) && (c == codecs[0] || errKeep == nil) {
				t.Errorf("%v, %v: got %q, %+v, %v, want %q", format, c.Type(), got, result, errKeep, want)
			}
		}
	})
}
