// Package status shows what a gateway does: an observer that counts and logs, metrics
// for Prometheus and OpenTelemetry, health, and a page that is served from memory.
package status
