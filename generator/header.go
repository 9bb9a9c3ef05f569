// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/output"
)

var yearValue = regexp.MustCompile(`^[0-9]{4}([-, ]+[0-9]{4})*$`)

func (s *settings) readHeader(file, year setting, report *diag.List) string {
	if year.isSet() && !yearValue.MatchString(year.text) {
		report.Add(year.finding(fmt.Sprintf("%q isn't a year: write it like 2026 or 2024-2026", year.text)))
		return ""
	}
	if !file.isSet() {
		if year.isSet() {
			report.Add(year.finding("the year has no effect without a header"))
		}
		return ""
	}
	content, err := os.ReadFile(file.path())
	if err != nil {
		report.Add(file.finding(fmt.Sprintf("reading the header: %v", err)))
		return ""
	}
	before := len(*report)
	text, hasYear := output.HeaderText(file.path(), content, year.text, report)
	if errs, _ := (*report)[before:].Split(); len(errs) == 0 && year.isSet() && !hasYear {
		d := year.finding("the header year has no effect, because " + filepath.Base(file.path()) + " has no word YEAR")
		d.Warning = true
		report.Add(d)
	}
	return text
}
