// SPDX-License-Identifier: Apache-2.0

//go:build race

package source

func init() { raceDetector = true }
