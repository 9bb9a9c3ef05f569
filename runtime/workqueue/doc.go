// SPDX-License-Identifier: Apache-2.0

// Package workqueue keeps the keys that a controller has to work on. Handlers of informers add keys,
// workers get them, and no key is with two workers at once.
package workqueue
