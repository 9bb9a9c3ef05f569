// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// marshaler is implemented by Go types that have protobuf.
type marshaler interface{ Marshal() ([]byte, error) }

// partialGVK is the kind of objects of which only the metadata is sent.
var partialGVK = schema.GroupVersionKind{Group: "meta.k8s.io", Version: "v1", Kind: "PartialObjectMetadata"}

// partial shares its maps and slices with obj.
func partial(obj object.Object) *metav1.PartialObjectMetadata {
	p := meta.AsPartialObjectMetadata(obj)
	p.SetGroupVersionKind(partialGVK)
	return p
}

// negotiate picks the format that the client likes best of those that the server has.
func (c *collection) negotiate(r Request) (e encoding, metadataOnly, ok bool) {
	accept, watch := r.Accept, r.Verb&(Watch|WatchList) != 0
	if accept == "" {
		accept = "*/*"
	}
	type clause struct {
		media  string
		params map[string]string
		q      float64
	}
	var clauses []clause
	for text := range strings.SplitSeq(accept, ",") {
		media, params, err := mime.ParseMediaType(text)
		if err != nil {
			continue
		}
		q := 1.0
		if v, err := strconv.ParseFloat(params["q"], 64); err == nil {
			q = v
		}
		clauses = append(clauses, clause{media, params, q})
	}
	slices.SortStableFunc(clauses, func(a, b clause) int {
		switch {
		case a.q > b.q:
			return -1
		case a.q < b.q:
			return 1
		}
		return 0
	})
	as := "PartialObjectMetadata"
	if !watch && r.Name == "" && r.Method != http.MethodPost {
		as += "List"
	}
	for _, cl := range clauses {
		metadataOnly := cl.params["as"] == as && cl.params["g"] == partialGVK.Group && cl.params["v"] == partialGVK.Version
		if cl.params["as"] != "" && !metadataOnly {
			continue
		}
		if cl.media == CBOR+"-seq" && watch {
			cl.media = CBOR
		}
		if cl.media == "*/*" || cl.media == "application/*" {
			cl.media = JSON
		}
		if c.server.MediaTypes != nil && !slices.Contains(c.server.MediaTypes, cl.media) {
			continue
		}
		switch {
		case cl.media == JSON:
			return jsonEncoding{c}, metadataOnly, true
		case cl.media == CBOR:
			return cborEncoding{c}, metadataOnly, true
		case cl.media == Protobuf && (c.proto || metadataOnly):
			return protoEncoding{}, metadataOnly, true
		}
	}
	return nil, false, false
}
