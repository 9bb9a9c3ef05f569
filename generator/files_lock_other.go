// SPDX-License-Identifier: Apache-2.0

//go:build !unix || solaris || illumos || aix

package generator

// lock does nothing: this system can't lock a folder.
func (f Files) lock() (unlock func(), err error) { return func() {}, nil }
