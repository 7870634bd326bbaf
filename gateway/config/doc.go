// Package config reads the gateway's configuration file: YAML, described by a JSON
// Schema, checked with the place of each mistake. It opens nothing that the file names;
// secrets are references to environment variables until they are asked for.
package config
