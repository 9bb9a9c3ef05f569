// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/inspect"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/workqueue"
	"github.com/informer-gen/informer-gen/test/internal/poll"
)

// TestPageInBrowser loads the page of package inspect in headless Chromium, narrow and wide, light
// and dark, and checks its content. With the variable E2E_SCREENSHOTS, it writes screenshots into
// that folder.
func TestPageInBrowser(t *testing.T) {
	t.Parallel()
	browser := startChromium(t)
	page, key := pageOfCrates(t)
	for _, width := range []int64{400, 1280} {
		for _, theme := range []string{"light", "dark"} {
			t.Run(fmt.Sprint(width, " ", theme), func(t *testing.T) {
				tab, cancel := chromedp.NewContext(browser)
				defer cancel()
				complaints := complaintsOf(tab, t)
				media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}}
				if _, err := chromedp.Call(tab, emulation.SetEmulatedMedia, media); err != nil {
					t.Fatal(err)
				}
				if err := chromedp.Do(tab, chromedp.EmulateViewport(width, 900), chromedp.Navigate(page+"?key="+url.QueryEscape(key.String()))); err != nil {
					t.Fatal(err)
				}
				seen, err := chromedp.Run(tab, chromedp.Evaluate[seenPage](lookAtPage))
				if err != nil {
					t.Fatal(err)
				}
				seen.check(t, width, theme, key)
				if failures := complaints(); failures != "" {
					t.Errorf("the browser complains: %s", failures)
				}
				keepPicture(tab, t, fmt.Sprintf("page-%d-%s.png", width, theme))
			})
		}
	}
	t.Run("form and link", func(t *testing.T) {
		tab, cancel := chromedp.NewContext(browser)
		defer cancel()
		if err := chromedp.Do(tab, chromedp.Navigate(page), chromedp.SendKeys("#key", "no-such/key"), chromedp.Submit("#key")); err != nil {
			t.Fatal(err)
		}
		explained, err := chromedp.Run(tab, chromedp.Text("#explained h2", chromedp.NodeVisible))
		if err != nil {
			t.Fatal(err)
		}
		if err := chromedp.Do(tab, chromedp.Click("#problems h3 a")); err != nil {
			t.Fatal(err)
		}
		target, err := chromedp.Run(tab, chromedp.Text("tbody:target th", chromedp.NodeVisible))
		if err != nil {
			t.Fatal(err)
		}
		if explained != "Where no-such/key is" || target != "missing" {
			t.Errorf("the form explains %q, the link leads to %q", explained, target)
		}
	})
}

// pageOfCrates serves the page of a factory with two informers. The first is healthy, and has a
// handler in a callback for key. The resource of the second is not installed.
func pageOfCrates(t *testing.T) (page string, key object.Key) {
	t.Helper()
	ns := shared.crates(t)
	ns.createMany(t, 3)
	f, i := crateInformer(t, shared.url, ns)
	called, release := make(chan object.Key, 3), make(chan struct{})
	hangs := informer.HandlerFuncs[*Crate]{AddFunc: func(c *Crate, _ bool) { called <- object.KeyOf(c); <-release }}
	if _, err := i.AddEventHandler(hangs, informer.WithHandlerName("billing")); err != nil {
		t.Fatal(err)
	}
	factories.For[*Crate](f, crates.GroupVersion().WithResource("missing"), informer.WithName("missing"))
	run(t, f)
	t.Cleanup(func() { close(release) }) // before the factory's shutdown, which waits for it
	select {
	case key = <-called:
	case <-deadline(t).Done():
		t.Fatal("the handler was not called")
	}
	for end := deadline(t); f.Informers()[1].Status().Reflector.LastError == nil; {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-end.Done():
			t.Fatal("the informer of a missing resource has no error")
		}
	}
	server := httptest.NewServer(inspect.Handler(f,
		inspect.WithControllers(func() []inspect.Controller { return []inspect.Controller{shipping(key), returns{}} }),
		inspect.WithControllerLinks("controllers/"),
		inspect.WithLeadership(func() inspect.Leadership {
			return inspect.Leadership{Holder: "harbour-controller-manager-7d9c6b5f4-x2x9z_3f0c4d2e-8a51-4b7e-9c1d-0e6f5a4b3c2d"}
		})))
	t.Cleanup(server.Close)
	return server.URL, key
}

// shipping is a controller that works on a key. Its last reconcile has failed, as those of others.
type shipping object.Key

func (s shipping) Status() controller.Status {
	key, _ := s.StatusOf(object.Key(s))
	failing := []controller.KeyStatus{key}
	for n := range 3 {
		failing = append(failing, controller.KeyStatus{
			KeyStatus: workqueue.KeyStatus[object.Key]{
				Key: object.Key{Namespace: "harbour-of-hamburg", Name: fmt.Sprint(strings.Repeat("container-", 6), n)}, Failures: 12 + n,
				Due: time.Now().Add(time.Duration(n) * time.Hour),
			},
			Error: "create crate: admission webhook \"crates.harbour.example.com\" denied the request: https://" + strings.Repeat("harbour/", 20), ErrorTime: time.Now(),
		})
	}
	failing[3].Due = time.Time{} // it isn't tried again
	return controller.Status{
		Name: "shipping", Running: true, Synced: true, Concurrency: 2, Active: 1, Failing: failing,
		Totals: metrics.ReconcileTotals{Succeeded: 12345, Failed: 1}, LastMinute: controller.Recent{Ended: 678, Failed: 1},
		LastError: "no crane for " + strings.Repeat("a heavy crate ", 20), LastErrorKey: "harbour/recovered", LastErrorTime: time.Now(),
		Queue: workqueue.Status[object.Key]{
			High: 1, Normal: 20, Delayed: 3, Failing: 30, Running: []workqueue.KeyStatus[object.Key]{key.KeyStatus},
			Oldest: &workqueue.KeyStatus[object.Key]{Key: failing[1].Key, Ready: true, Since: time.Now()},
		},
	}
}

// returns is a controller whose run has failed.
type returns struct{}

func (returns) Status() controller.Status {
	return controller.Status{Name: "returns-of-" + strings.Repeat("empty", 12), Concurrency: 1, RunError: "wait for the informers: " + strings.Repeat("crates.harbour.example.com/v1 ", 5)}
}

func (returns) StatusOf(object.Key) (where controller.KeyStatus, known bool) { return where, false }

func (s shipping) StatusOf(key object.Key) (where controller.KeyStatus, known bool) {
	if key != object.Key(s) {
		return where, false
	}
	return controller.KeyStatus{
		KeyStatus: workqueue.KeyStatus[object.Key]{Key: key, Running: true, Since: time.Now(), Failures: 1},
		Error:     "no carrier for " + strings.Repeat("crates-", 30), ErrorTime: time.Now(),
	}, true
}

// startChromium starts a browser, which ends with the test. If none is installed, it skips the
// test.
func startChromium(t *testing.T) context.Context {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "headless-shell"} {
		found, err := exec.LookPath(name)
		if err == nil && exec.Command(found, "--version").Run() == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("this test did not run: no Chromium is installed; apt-get install chromium, or .ci/run browser")
	}
	// The context of the test ends before its cleanups, which end the browser.
	ctx, cancelWait := context.WithTimeout(context.Background(), poll.Patience)
	ctx, cancelAll := chromedp.NewExecAllocator(ctx,
		chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()),
		chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true))
	browser, cancel := chromedp.NewContext(ctx)
	t.Cleanup(func() {
		if err := chromedp.Cancel(browser); err != nil {
			t.Errorf("end the browser: %v", err)
		}
		cancel()
		cancelAll()
		cancelWait()
	})
	if err := chromedp.Do(browser); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	return browser
}

// keepPicture writes a picture of a tab into the folder of E2E_SCREENSHOTS, if that is set.
func keepPicture(tab context.Context, t *testing.T, name string) {
	t.Helper()
	folder := os.Getenv("E2E_SCREENSHOTS")
	if folder == "" {
		return
	}
	picture, err := chromedp.Run(tab, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name), picture, 0o644)
	}
	if err != nil {
		t.Error(err)
	}
}

// complaintsOf returns a function for the browser's log of a tab: refusals by the page's policy,
// failed requests, errors of scripts.
func complaintsOf(tab context.Context, t *testing.T) func() string {
	t.Helper()
	var mu sync.Mutex // guards lines
	var lines []string
	err := chromedp.Listen(tab, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch event := event.(type) {
		case *log.EventEntryAdded:
			lines = append(lines, event.Entry.Text)
		case *runtime.EventExceptionThrown:
			lines = append(lines, event.ExceptionDetails.Text)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(lines, "; ")
	}
}

// seenPage is what lookAtPage returns.
type seenPage struct {
	Title, Text string
	Back        [3]float64 // the color of the background
	Cell        string     // how a cell of a table is laid out
	Scrolls     bool       // sideways
	Beyond      []string   // elements that reach beyond the window
	Squeezed    []string   // texts in a column of a few letters
	Faint       []string   // texts with too little contrast
	Badges      []string
}

const lookAtPage = `(() => {
	const color = (s) => (s.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
	const clear = (s) => { const c = color(s); return c.length > 3 && c[3] === 0; };
	const back = (e) => { while (e.parentElement && clear(getComputedStyle(e).backgroundColor)) e = e.parentElement; return color(getComputedStyle(e).backgroundColor); };
	const light = (c) => { const [r, g, b] = c.map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((m, n) => n - m); return (x + 0.05) / (y + 0.05); };
	const all = [...document.querySelectorAll("body *")].filter((e) => e.getClientRects().length && !e.closest("thead"));
	const texts = all.filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()));
	return {
		Title: document.title, Text: document.body.innerText.replace(/\s+/g, " "),
		Back: color(getComputedStyle(document.body).backgroundColor).slice(0, 3),
		Cell: getComputedStyle(document.querySelector("#informers td")).display,
		Scrolls: document.scrollingElement.scrollWidth > innerWidth,
		Squeezed: texts.filter((e) => { const r = e.getBoundingClientRect(); return r.width < 60 && r.height > 80; }).map((e) => e.outerHTML.slice(0, 80)),
		Beyond: all.filter((e) => e.getBoundingClientRect().right > innerWidth + 0.5).map((e) => e.outerHTML.slice(0, 80)),
		Faint: texts.filter((e) => contrast(color(getComputedStyle(e).color), back(e)) < 4.5).map((e) => e.outerHTML.slice(0, 80)),
		Badges: [...document.querySelectorAll("#informers .badge")].map((e) => e.innerText),
	};
})()`

func (s seenPage) check(t *testing.T, width int64, theme string, key object.Key) {
	t.Helper()
	for _, want := range []string{
		"2 informers with 3 objects", "1 healthy", "What is wrong", "not found", "Install the CustomResourceDefinition",
		"Where " + key.String() + " is", "Stored.", "Handler billing has been in OnAdd of it for", "With a worker for",
		"billing", "watching", "OnAdd of " + key.String() + " for", "shipping", "attempt 2",
		"The last reconcile failed", "no carrier for crates-", "12,346", "(678 in the last minute)",
		"This process does not lead. The leader is harbour-controller-manager-", "1 of 2 workers", "by priority: 1, 20, 0",
		"denied the request", "not tried again before its next event", "and 26 more keys that fail",
		"of harbour/recovered:", "no crane for a heavy crate", "The run has failed: wait for the informers", "the run failed",
	} {
		if !strings.Contains(s.Text, want) {
			t.Errorf("the page lacks %q: %s", want, s.Text)
		}
	}
	if s.Title != "(3) Informers" || len(s.Badges) != 2 || s.Badges[0] != "failing" || s.Badges[1] != "healthy" {
		t.Errorf("title %q, badges %q", s.Title, s.Badges)
	}
	if isLight := s.Back[0] > 128; isLight != (theme == "light") {
		t.Errorf("the background is %v", s.Back)
	}
	if want := map[bool]string{true: "flex", false: "table-cell"}[width < 860]; s.Cell != want {
		t.Errorf("a cell is laid out as %s, want %s", s.Cell, want)
	}
	if s.Scrolls {
		t.Error("the page scrolls sideways")
	}
	if len(s.Squeezed) > 0 {
		t.Errorf("texts in a column of a few letters: %q", s.Squeezed)
	}
	if len(s.Beyond) > 0 {
		t.Errorf("elements beyond the window: %q", s.Beyond)
	}
	if len(s.Faint) > 0 {
		t.Errorf("texts with too little contrast: %q", s.Faint)
	}
}
