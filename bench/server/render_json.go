// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/bench/data"
)

type jsonRendering struct{ kind data.Kind }

func (jsonRendering) contentType(bool) string { return runtime.ContentTypeJSON }

// object writes fields in the order of the Go type, as a server does for built-in kinds. Custom
// resources pass through it as maps, so their names are sorted.
func (j jsonRendering) object(obj runtime.Object) ([]byte, error) {
	text, err := json.Marshal(obj)
	if err != nil || j.kind.BuiltIn {
		return text, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var fields map[string]any
	if err := decoder.Decode(&fields); err != nil {
		return nil, err
	}
	return json.Marshal(fields)
}

func (j jsonRendering) item(obj runtime.Object) ([]byte, error) {
	text, err := j.object(obj)
	text = append(text, ',')
	if err != nil || !j.kind.BuiltIn {
		return text, err
	}
	gvk := j.kind.GVK()
	kindless, ok := bytes.CutPrefix(text, fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q,`, gvk.Kind, gvk.GroupVersion()))
	if !ok {
		return nil, fmt.Errorf("%s does not begin with its kind: %.60s", gvk.Kind, text)
	}
	return append([]byte("{"), kindless...), nil
}

func (j jsonRendering) event(t watch.EventType, obj runtime.Object) ([]byte, error) {
	text, err := j.object(obj)
	return fmt.Appendf(nil, `{"type":%q,"object":%s}`+"\n", t, text), err
}

func (j jsonRendering) head(m metav1.ListMeta, _ int64) []byte {
	if j.kind.BuiltIn {
		return fmt.Appendf(nil, `{"kind":"%sList","apiVersion":%q,"metadata":%s,"items":[`, j.kind.Name, j.kind.Resource.GroupVersion(), listMeta(m))
	}
	return fmt.Appendf(nil, `{"apiVersion":%q,"items":[`, j.kind.Resource.GroupVersion())
}

func listMeta(m metav1.ListMeta) []byte {
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // it has only strings and numbers
	}
	return text
}

func (jsonRendering) separator() int64 { return 1 }

func (j jsonRendering) tail(m metav1.ListMeta) []byte {
	if j.kind.BuiltIn {
		return []byte("]}\n")
	}
	return fmt.Appendf(nil, `],"kind":"%sList","metadata":%s}`+"\n", j.kind.Name, listMeta(m))
}

func (j jsonRendering) bookmark(resourceVersion string) ([]byte, error) {
	obj, err := initialEventsEnd(j.kind, resourceVersion)
	if err != nil {
		return nil, err
	}
	return j.event(watch.Bookmark, obj)
}
