// SPDX-License-Identifier: Apache-2.0

//go:build race

package decode

func init() { raceDetector = true }
