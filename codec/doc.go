// Package codec turns JSON-RPC bytes into messages and back.
package codec
