// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
)

// Severities in JSON, which are also the names of GitHub's workflow commands.
const (
	severityError   = "error"
	severityWarning = "warning"
)

func (d Diagnostic) severity() string {
	if d.Warning {
		return severityWarning
	}
	return severityError
}

// MarshalJSON implements json.Marshaler. Empty members are omitted, except severity and message:
//
//	file        string    the file's name, with slashes
//	line        number    from 1
//	column      number    in bytes, from 1
//	severity    string    "error" or "warning"
//	marker      string    the marker's name with its "+"
//	message     string    one line
//	allowed     []string  the allowed values
//	suggestion  string    the likely intended value
func (d Diagnostic) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		File       string   `json:"file,omitempty"`
		Line       int      `json:"line,omitempty"`
		Column     int      `json:"column,omitempty"`
		Severity   string   `json:"severity"`
		Marker     string   `json:"marker,omitempty"`
		Message    string   `json:"message"`
		Allowed    []string `json:"allowed,omitempty"`
		Suggestion string   `json:"suggestion,omitempty"`
	}{
		filepath.ToSlash(d.Pos.Filename), d.Pos.Line, d.Pos.Column,
		d.severity(), d.Marker, d.Message, d.Allowed, d.Suggestion(),
	})
}

// GitHub returns the finding as a command of a GitHub workflow, which turns it into an annotation:
// "::error file=F,line=L,col=C,title=T::MESSAGE". The title is the marker's name; empty parts are
// omitted. GitHub resolves the file from the root of the checkout.
func (d Diagnostic) GitHub() string {
	var properties []string
	add := func(name, value string) {
		properties = append(properties, name+"="+propertyEscapes.Replace(value))
	}
	if d.Pos.Filename != "" {
		add("file", filepath.ToSlash(d.Pos.Filename))
	}
	if d.Pos.Line > 0 {
		add("line", strconv.Itoa(d.Pos.Line))
	}
	if d.Pos.Column > 0 {
		add("col", strconv.Itoa(d.Pos.Column))
	}
	if d.Marker != "" {
		add("title", d.Marker)
	}
	command := "::" + d.severity()
	if len(properties) > 0 {
		command += " " + strings.Join(properties, ",")
	}
	return command + "::" + messageEscapes.Replace(d.text())
}

// Hexadecimal escapes for characters that would end a workflow command or one of its properties.
var (
	messageEscapes  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	propertyEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
