// SPDX-License-Identifier: Apache-2.0

package request

import (
	"cmp"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Format is a media type for objects.
type Format string

// Formats supported by all API servers and their clients.
const (
	JSON     Format = "application/json"
	Protobuf Format = "application/vnd.kubernetes.protobuf"
)

// media is a client's preferred form of an answer.
type media struct {
	format  Format
	as      string // PartialObjectMetadata or PartialObjectMetadataList, "" for whole objects
	version string // of meta.k8s.io, if as is not empty
}

type clause struct {
	kind, subtype string // of the media type
	params        map[string]string
	quality       float64
}

// parseAccept returns the valid clauses of a header, the preferred one first.
func parseAccept(header string) []clause {
	var clauses []clause
	for text := range strings.SplitSeq(header, ",") {
		name, params, err := mime.ParseMediaType(text)
		if err != nil {
			continue
		}
		kind, subtype, _ := strings.Cut(name, "/")
		quality := 1.0
		if q, err := strconv.ParseFloat(params["q"], 64); err == nil {
			quality = q
		}
		clauses = append(clauses, clause{kind, subtype, params, quality})
	}
	slices.SortStableFunc(clauses, func(a, b clause) int {
		return cmp.Or(cmp.Compare(b.quality, a.quality), cmp.Compare(a.wildcards(), b.wildcards()))
	})
	return clauses
}

func (c clause) wildcards() (n int) {
	if c.kind == "*" {
		n++
	}
	if c.subtype == "*" {
		n++
	}
	return n
}

func (c clause) matches(f Format) bool {
	name, _, _ := strings.Cut(string(f), ";")
	kind, subtype, _ := strings.Cut(name, "/")
	return (c.kind == "*" || c.kind == kind) && (c.subtype == "*" || c.subtype == subtype)
}

// negotiate picks the client's favourite among objects and their metadata, in the resource's
// formats. Tables are not available.
func (res Resource) negotiate(accept string) (media, error) {
	for _, c := range parseAccept(cmp.Or(accept, "*/*")) {
		as, group, version, stream := c.params["as"], c.params["g"], c.params["v"], c.params["stream"]
		fullObject := as == "" && group == "" && version == ""
		metadata := (as == partial || as == partialList) && group == metav1.GroupName && (version == "v1" || version == "v1beta1")
		if !fullObject && !metadata || stream != "" && stream != "watch" {
			continue
		}
		formats := res.Formats
		if metadata {
			formats = slices.Concat(formats, res.Metadata)
		}
		for _, f := range formats {
			if c.matches(f) {
				return media{f, as, version}, nil
			}
		}
	}
	var offered []string
	for _, f := range res.Formats {
		offered = append(offered, string(f))
	}
	return media{}, notAcceptable("only the following media types are accepted: " + strings.Join(offered, ", "))
}

const partial, partialList = "PartialObjectMetadata", "PartialObjectMetadataList"

// setFormat sets Format and Partial, or refuses a form that doesn't fit the request.
func (r *Request) setFormat(m media, kind string) error {
	switch {
	case m.as == partial && r.Verb == List:
		return notAcceptable(fmt.Sprintf("you requested %s, but the requested object is a list (%sList)", partial, kind))
	case m.as == partialList && r.Verb != List:
		return notAcceptable(fmt.Sprintf("you requested %s, but the requested object is not a list (%s)", partialList, kind))
	}
	r.Format, r.Partial = m.format, m.version
	return nil
}

// Prefer returns the client's favourite among the offered formats, or the first one if none
// matches. An Accept clause must have the same parameters as, g and v as the format.
func Prefer(accept string, offered ...Format) Format {
	for _, c := range parseAccept(accept) {
		for _, f := range offered {
			_, params, _ := mime.ParseMediaType(string(f))
			same := c.params["as"] == params["as"] && c.params["g"] == params["g"] && c.params["v"] == params["v"]
			if same && c.matches(f) {
				return f
			}
		}
	}
	return offered[0]
}

func notAcceptable(message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotAcceptable,
		Reason: metav1.StatusReasonNotAcceptable, Message: message,
	}}
}

// acceptsGzip reads an Accept-Encoding header like API servers, which look for the bare word.
func acceptsGzip(header string) bool {
	for name := range strings.SplitSeq(header, ",") {
		if strings.TrimSpace(name) == "gzip" {
			return true
		}
	}
	return false
}
