// SPDX-License-Identifier: Apache-2.0

package workqueue

type core struct{}
