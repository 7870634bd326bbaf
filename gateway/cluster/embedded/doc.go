// Package embedded runs a NATS server with JetStream in this process: for a gateway of
// one node that is configured like one of many, and for tests. It is apart from package
// cluster so that who has a NATS server does not carry another one.
package embedded
