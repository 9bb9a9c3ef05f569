// SPDX-License-Identifier: Apache-2.0

package templates

import "github.com/dave/jennifer/jen"

func kindFile(k *kind) *file {
	f := k.file(k.informers, append(projectionLocals(), "f", "i", "key", "keys", "l", "name", "namespace", "obj", "ok", "options", "reader")...)
	f.fixInformer(k)
	if k.Projection != nil {
		f.addProjection(k)
	}
	f.addInformer(k, "f", "factory", jen.Id("f").Dot("Base").Call())
	f.addLister(k)
	if k.Apply != nil {
		f.addApplyConfiguration(k)
	}
	return f
}
