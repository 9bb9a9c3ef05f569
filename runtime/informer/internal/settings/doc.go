// SPDX-License-Identifier: Apache-2.0

// Package settings holds the results of options of packages informer and factories: the settings of
// one informer, or the defaults of a factory.
//
// An option is an [Option], which knows the calls that take it ([Scope]) and writes to [Settings].
// The call applies its options to defaults, and then makes an engine of the result. An option for
// handlers writes to [Settings].Handlers, and every call takes it.
package settings
