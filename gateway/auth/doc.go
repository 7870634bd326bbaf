// Package auth says who a client is, by the credentials that it brings, and keeps those
// to itself: what a client shows here is never passed on to an upstream.
package auth
