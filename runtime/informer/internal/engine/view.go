// SPDX-License-Identifier: Apache-2.0

package engine

// View is the type below all instances of informer.SharedIndexInformer. Pointers to them are
// converted to each other and to *View, which costs nothing at run time and takes no method, so
// that packages of this module get from a typed informer to its Informer and back.
type View struct{ informer *Informer }

// NewView returns the View of i.
func NewView(i *Informer) *View { return &View{i} }

// Engine returns the Informer.
func (v *View) Engine() *Informer { return v.informer }
