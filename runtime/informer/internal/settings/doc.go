// SPDX-License-Identifier: Apache-2.0

// Package settings has what the options of packages informer and factories write: the settings of
// one informer, or the defaults of a factory.
//
// An option of either package is an [Option], which knows the calls that take it ([Scope]), and
// writes to [Settings]. The call applies its options to defaults, and then makes an engine of the
// result. An option for handlers writes to [Settings].Handlers, and every call takes it.
package settings
