// Package callers is the load of benchmarks of clients: goroutines that call and wait
// for the answer.
package callers
