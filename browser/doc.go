// Package browser tests the pages of loadgen and of the gateway as a person meets
// them: in a real headless Chromium, on a telephone and on a wide screen, in light and
// in dark. It is a module of its own, so that nobody who imports the library sees the
// browser's driver.
//
// make browser finds or installs a Chromium, make test-browser runs the tests.
// Without a browser they are skipped, unless CORRELATOR_REQUIRE_BROWSER is set,
// which CI does. CORRELATOR_BROWSER names another browser, CORRELATOR_SHOTS a
// folder for pictures of what was tested.
package browser
