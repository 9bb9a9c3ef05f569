// SPDX-License-Identifier: Apache-2.0

package engine

// View is the type below all instances of informer.SharedIndexInformer. Packages of this module
// convert pointers between these types, which costs nothing at run time and takes no method.
type View struct{ informer *Informer }

// NewView returns the View of i.
func NewView(i *Informer) *View { return &View{i} }

// Engine returns the Informer.
func (v *View) Engine() *Informer { return v.informer }
