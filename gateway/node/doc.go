// Package node makes a running gateway of a configuration: it builds what the file
// names, listens, reads the file again without dropping calls, and drains at the end.
//
//	c, err := config.Parse(name, text, os.LookupEnv)
//	n, err := node.New(c, node.Options{Log: slog.Default()})
//	err = n.Run(ctx) // until ctx ends, and its calls are over
package node
