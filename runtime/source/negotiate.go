// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"fmt"
	"mime"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/runtime/internal/decode"
)

func (f Format) mediaType() string { return decode.Format(f).MediaType() }

func checkFormats(requested []Format, codec *decode.Codec) ([]Format, error) {
	if len(requested) == 0 {
		if codec.Has(decode.Protobuf) {
			return []Format{Protobuf, JSON}, nil
		}
		return []Format{JSON}, nil
	}
	for i, f := range requested {
		switch {
		case !decode.Format(f).Exists():
			return nil, fmt.Errorf("unknown format %d; use JSON or Protobuf", uint8(f))
		case slices.Contains(requested[:i], f):
			return nil, fmt.Errorf("Options.Formats has %v twice", f)
		case !codec.Has(decode.Format(f)):
			return nil, fmt.Errorf("%v has no %v encoding; remove the format from Options.Formats", codec.Type(), f)
		}
	}
	return slices.Clone(requested), nil
}

// dropManagedFields is a parameter of a media type. It asks API servers to leave out managedFields
// (KEP-5958). Those that don't know it ignore it.
const dropManagedFields = ";drop=metadata.managedFields"

// acceptHeader returns the Accept header for formats, in their order. as is the meta.k8s.io/v1 kind
// to convert objects to, or "". A server that can't convert them may send them whole, as JSON. drop
// asks for objects without managedFields.
func acceptHeader(formats []Format, as string, drop bool) string {
	var types []string
	for _, f := range formats {
		types = append(types, f.mediaType())
		if as != "" {
			types[len(types)-1] += ";as=" + as + ";g=meta.k8s.io;v=v1"
		}
	}
	if as != "" && slices.Contains(formats, JSON) {
		types = append(types, JSON.mediaType())
	}
	for i := range types {
		if drop {
			types[i] += dropManagedFields
		}
		if i > 0 {
			types[i] += fmt.Sprintf(";q=0.%d", 10-i)
		}
	}
	return strings.Join(types, ",")
}

func formatOf(contentType string, formats []Format) (Format, error) {
	f, err := parseFormat(contentType)
	if err == nil && !slices.Contains(formats, f) {
		err = errors.New("which was not asked for")
	}
	if err != nil {
		var names []string
		for _, f := range formats {
			names = append(names, f.mediaType())
		}
		return 0, fmt.Errorf("%w: the server answers with %q, %w; want %s", ErrWrongFormat, contentType, err, strings.Join(names, " or "))
	}
	return f, nil
}

func parseFormat(contentType string) (Format, error) {
	if contentType == "" {
		return JSON, nil // the default of Kubernetes APIs
	}
	mediaType, _, err := mime.ParseMediaType(contentType)
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return 0, errors.New("which is not a media type")
	}
	f, ok := decode.FormatOf(mediaType)
	if !ok {
		return 0, errors.New("is this the address of a Kubernetes API?")
	}
	return Format(f), nil
}
