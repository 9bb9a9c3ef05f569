// SPDX-License-Identifier: Apache-2.0

package devservertest

import (
	"net/http"
	"time"

	"go.uber.org/goleak"
)

// leakPatience is the time for goroutines to end after the tests. It runs out only if some don't.
const leakPatience = 2 * time.Minute

// VerifyTestMain is goleak.VerifyTestMain for packages whose tests start servers. It runs the
// tests, closes the idle connections of http.DefaultClient, and ends the process, with an error if
// goroutines are left. The sleeping goroutines named in the documentation of package devserver get
// time to end. The options are goleak.Find's.
//
//	func TestMain(m *testing.M) { devservertest.VerifyTestMain(m) }
func VerifyTestMain(m goleak.TestingM, options ...goleak.Option) {
	goleak.VerifyTestMain(patient{m, options}, options...)
}

type patient struct {
	tests   goleak.TestingM
	options []goleak.Option
}

// Run implements goleak.TestingM.
func (p patient) Run() int {
	code := p.tests.Run()
	http.DefaultClient.CloseIdleConnections()
	err := goleak.Find(p.options...)
	for deadline := time.Now().Add(leakPatience); err != nil && code == 0 && time.Now().Before(deadline); {
		err = goleak.Find(p.options...) // goleak.Find itself retries for a moment
	}
	return code
}
