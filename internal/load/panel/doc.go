// Package panel serves the page of a load test that is going on, with its buttons:
// pause, the rate a tenth up or down, stop.
//
// It is built so that looking on changes as little as possible, and that nobody
// else can look or press:
//
//   - The page is drawn when something came and somebody looks, at most a few times
//     a second, in a goroutine of its own. Whoever reads slowly misses drawings and
//     is dropped when a write takes too long; the run never waits for a reader.
//   - Every request needs the panel's token, which only its address holds. A request
//     whose Host is a name other than localhost is refused (a name that was made to
//     point here: DNS rebinding), and so is one that another site sent.
package panel
