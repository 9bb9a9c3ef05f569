// SPDX-License-Identifier: Apache-2.0

package jsondec

import "github.com/informer-gen/informer-gen/runtime/internal/layout"

// managed checks that dropped managed fields are a list of objects. Many objects have the same
// entries, which are checked only once.
func (d *Decoder) managed(pl *plan, i int) int {
	in := d.in
	if in[i] != '[' {
		return -1
	}
	if i = skipSpace(in, i+1); i < len(in) && in[i] == ']' {
		return i + 1
	}
	site := int(pl.site)
	for more := true; more; {
		if i = d.managedEntry(site, skipSpace(in, i)); i < 0 {
			return -1
		}
		site = min(site+1, int(pl.site)+managedSites-1)
		if i, more = next(in, i, ']'); i < 0 {
			return -1
		}
	}
	return i
}

// managedSites is the number of sites for managed fields: one for each of the first entries, since
// some of them differ between objects and some don't, and one for all others.
const managedSites = 4

func (d *Decoder) managedEntry(site, i int) int {
	in := d.in
	if i >= len(in) || in[i] != '{' {
		return -1
	}
	if i = skipSpace(in, i+1); i < len(in) && in[i] == '}' {
		return i + 1
	}
	for more := true; more; {
		end := fieldsV1.end(in, i)
		if end > 0 && end < len(in) && in[end] == '{' {
			i = d.checked(site, end)
		} else if i = skipName(in, i); i >= 0 {
			i = skip(in, i)
		}
		if i < 0 {
			return -1
		}
		if i, more = next(in, i, '}'); i < 0 {
			return -1
		}
	}
	return i
}

var fieldsV1 = newStart("fieldsV1")

// checked skips the object at in[i]. An object in the table is known to be valid.
func (d *Decoder) checked(site, i int) int {
	if !d.parts || !d.predictor.Try(site) {
		return skip(d.in, i)
	}
	if part := d.predictor.Predict(site, d.in[i:]); part != nil {
		d.predictor.Follow(site, part)
		return i + part.Len()
	}
	end := skip(d.in, i)
	if end < 0 {
		return -1
	}
	if part, enter := d.predictor.Find(site, d.in[i:end]); part == nil && enter {
		d.none = nil
		d.predictor.Enter(site, d.in[i:end], layout.Of(&d.none))
	}
	return end
}
