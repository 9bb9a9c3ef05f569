// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Format is a format in which API servers write objects. The zero value is none.
type Format uint8

// The formats.
const (
	JSON Format = iota + 1
	Protobuf
)

var formats = [...]struct {
	name      string
	mediaType string
	reader    func(*Stream) formatReader          // reads a response
	object    func(*Codec, []byte, *Item)         // decodes an object alone in a response
	status    func([]byte) (metav1.Status, error) // decodes a Status alone in a response
}{
	JSON: {
		name: "JSON", mediaType: "application/json",
		reader: newJSONFormat, object: jsonObject, status: jsonStatus,
	},
	Protobuf: {
		name: "protobuf", mediaType: "application/vnd.kubernetes.protobuf",
		reader: newProtoFormat, object: protoObject, status: protoStatus,
	},
}

// FormatOf returns the format of a media type.
func FormatOf(mediaType string) (f Format, ok bool) {
	for f := JSON; f.Exists(); f++ {
		if formats[f].mediaType == mediaType {
			return f, true
		}
	}
	return 0, false
}

// Exists reports whether there is such a format.
func (f Format) Exists() bool { return f > 0 && int(f) < len(formats) }

// String returns "JSON" or "protobuf".
func (f Format) String() string {
	if !f.Exists() {
		return fmt.Sprintf("Format(%d)", uint8(f))
	}
	return formats[f].name
}

// MediaType returns the media type to request.
func (f Format) MediaType() string { return formats[f].mediaType }

// Status decodes a Status alone in a response.
func (f Format) Status(body []byte) (metav1.Status, error) { return formats[f].status(body) }
