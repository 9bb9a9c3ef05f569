// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"fmt"
	"mime"
	"slices"
	"strings"
)

// Format is one of the three formats in which API servers write objects. The set is closed; the
// zero value is none.
type Format uint8

// The formats.
const (
	// JSON is application/json, which every server has for every resource.
	JSON Format = iota + 1
	// Protobuf is application/vnd.kubernetes.protobuf, which servers have for their built-in kinds,
	// and for the metadata of every kind. Only Go types with generated protobuf methods can be
	// decoded from it.
	Protobuf
	// CBOR is application/cbor (KEP-4222), which servers have for every resource once it is
	// switched on. It is asked for only if [Options].Formats names it, because apimachinery decodes
	// it, which takes several times as long as JSON: see the package documentation.
	CBOR
)

// String returns "JSON", "protobuf" or "CBOR".
func (f Format) String() string {
	switch f {
	case JSON:
		return "JSON"
	case Protobuf:
		return "protobuf"
	case CBOR:
		return "CBOR"
	}
	return fmt.Sprintf("Format(%d)", uint8(f))
}

func (f Format) mediaType() string {
	switch f {
	case Protobuf:
		return "application/vnd.kubernetes.protobuf"
	case CBOR:
		return "application/cbor"
	}
	return "application/json"
}

// defaultFormats returns the formats to ask for, in order, if Options.Formats is nil.
func defaultFormats(protobuf bool) []Format {
	if protobuf {
		return []Format{Protobuf, JSON}
	}
	return []Format{JSON}
}

// checkFormats returns the formats to ask for.
func checkFormats(asked []Format, protobuf bool, sample string) ([]Format, error) {
	if len(asked) == 0 {
		return defaultFormats(protobuf), nil
	}
	for i, f := range asked {
		switch {
		case f < JSON || f > CBOR:
			return nil, fmt.Errorf("%v is not a format; there are JSON, Protobuf and CBOR", f)
		case slices.Contains(asked[:i], f):
			return nil, fmt.Errorf("the format %v is asked for twice", f)
		case f == Protobuf && !protobuf:
			return nil, fmt.Errorf("%s has no protobuf; leave the format out", sample)
		}
	}
	return slices.Clone(asked), nil
}

// acceptHeader returns the Accept header for formats in their order. as is the kind of
// meta.k8s.io/v1 that objects are to be sent as, or "". A server that can't convert them may send
// them whole, as JSON.
func acceptHeader(formats []Format, as string) string {
	var types []string
	if as != "" {
		for _, f := range formats {
			types = append(types, f.mediaType()+";as="+as+";g=meta.k8s.io;v=v1")
		}
		if slices.Contains(formats, JSON) {
			types = append(types, JSON.mediaType())
		}
	} else {
		for _, f := range formats {
			types = append(types, f.mediaType())
		}
	}
	for i := range types[1:] {
		types[i+1] += fmt.Sprintf(";q=0.%d", 9-i)
	}
	return strings.Join(types, ",")
}

// formatOf returns the format of an answer to a request for formats.
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
		return 0, errors.New("which is no media type")
	}
	switch mediaType {
	case "application/json":
		return JSON, nil
	case "application/vnd.kubernetes.protobuf":
		return Protobuf, nil
	case "application/cbor", "application/cbor-seq":
		return CBOR, nil
	}
	return 0, errors.New("is this the address of a Kubernetes API?")
}
