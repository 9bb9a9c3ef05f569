// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"sort"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// token is the content of a continue token.
type token struct {
	Version int64      `json:"rv"`
	After   object.Key `json:"after"`
}

// list answers a list request.
func (c *collection) list(q query) (*Page, *metav1.Status) {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	version, after := s.version, object.Key{}
	switch {
	case q.token != "":
		raw, err := base64.RawURLEncoding.DecodeString(q.token)
		var t token
		if err == nil {
			err = json.Unmarshal(raw, &t)
		}
		switch {
		case err != nil:
			return nil, badRequest("continue key is not valid")
		case q.number > 0:
			return nil, badRequest("specifying resource version is not allowed when using continue")
		case t.Version < c.compacted || t.Version > s.version:
			status := Status(http.StatusGone)
			status.Message = "The provided continue parameter is too old to display a consistent list result"
			return nil, status
		}
		version, after = t.Version, t.After
	case q.number > s.version:
		return nil, tooLarge(q.number, s.version)
	case q.match == metav1.ResourceVersionMatchExact, q.match == "" && q.number > 0 && q.limit > 0:
		if q.number < c.compacted {
			return nil, expired(q.number, c.compacted)
		}
		version = q.number
	case q.version == "0":
		q.limit = 0 // as an API server's watch cache does
	}

	page := &Page{ResourceVersion: format(version)}
	page.APIVersion, page.Kind = c.kind.GroupVersion().String(), c.kind.Kind+"List"
	all := sorted(c.at(version))
	if after.Name != "" {
		all = all[sort.Search(len(all), func(i int) bool { return compareKeys(object.KeyOf(all[i]), after) > 0 }):]
	}
	for i, obj := range all {
		if !q.selects(c, obj) {
			continue
		}
		if q.limit > 0 && len(page.Items) == q.limit {
			raw, _ := json.Marshal(token{version, after}) // of strings and a number
			page.Continue = base64.RawURLEncoding.EncodeToString(raw)
			if q.labels.Empty() && q.fields.Empty() && q.namespace == "" {
				page.remaining = new(int64(len(all) - i))
			}
			break
		}
		after = object.KeyOf(obj)
		page.Items = append(page.Items, c.out(obj, q.metadataOnly))
	}
	if q.metadataOnly {
		page.APIVersion, page.Kind = partialGVK.GroupVersion().String(), partialGVK.Kind+"List"
	}
	return page, nil
}

// out returns a copy of an object in the form in which it is sent.
func (c *collection) out(obj object.Object, metadataOnly bool) runtime.Object {
	if metadataOnly {
		return partial(obj).DeepCopyObject()
	}
	return obj.DeepCopyObject()
}

// selects reports whether a request's namespace and selectors match obj.
func (q query) selects(c *collection, obj object.Object) bool {
	return obj != nil &&
		(q.namespace == "" || obj.GetNamespace() == q.namespace) &&
		q.labels.Matches(labels.Set(obj.GetLabels())) &&
		(q.fields.Empty() || q.fields.Matches(c.fieldsOf(obj)))
}

// fieldsOf returns the fields that selectors may name.
func (c *collection) fieldsOf(obj object.Object) fields.Set {
	set := fields.Set{"metadata.name": obj.GetName(), "metadata.namespace": obj.GetNamespace()}
	if len(c.fields) == 0 {
		return set
	}
	raw, err := json.Marshal(obj)
	var content map[string]json.RawMessage
	if err != nil || json.Unmarshal(raw, &content) != nil {
		return set
	}
	for _, path := range c.fields {
		set[path] = at(content, strings.Split(path, "."))
	}
	return set
}

// at returns the string, number or bool at a path as text, "" if there is none.
func at(content map[string]json.RawMessage, path []string) string {
	raw := content[path[0]]
	if len(path) > 1 {
		var inner map[string]json.RawMessage
		if json.Unmarshal(raw, &inner) != nil {
			return ""
		}
		return at(inner, path[1:])
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = strings.TrimSpace(string(raw))
	}
	return text
}
