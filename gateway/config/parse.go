package config

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Parse reads a file. env gives the variables that ${NAME} stands for, as os.LookupEnv
// does; nil has none. The error is Mistakes, all of them with their lines; no value
// that came from env is in it.
func Parse(file string, text []byte, env func(name string) (string, bool)) (*Config, error) {
	if env == nil {
		env = func(string) (string, bool) { return "", false }
	}
	d := &decoder{file: file, env: env, lines: map[string]int{}}
	c := &Config{file: file, lines: d.lines}
	root, wrong := document(file, text)
	if wrong != nil {
		return nil, Mistakes{wrong}
	}
	d.value(root, reflect.ValueOf(c).Elem(), "")
	c.order = d.order
	if len(d.mistakes) == 0 {
		if err := c.checked(); err != nil {
			return nil, err
		}
		return c, nil
	}
	slices.SortStableFunc(d.mistakes, func(a, b *Mistake) int { return cmp.Compare(a.Line, b.Line) })
	return nil, d.mistakes
}

// Check is for a Config that was made by a program: it finds what Parse would, and fills
// in what Parse does. file stands in the place of the file's name. The error is
// Mistakes.
func (c *Config) Check(file string) error {
	c.file, c.lines, c.order = file, map[string]int{}, slices.Sorted(maps.Keys(c.Upstreams))
	return c.checked()
}

func (c *Config) checked() error {
	var found Mistakes
	c.check(func(path, problem string) {
		if len(found) < most {
			found = append(found, c.Mistake(path, problem))
		}
	})
	if len(found) == 0 {
		return nil
	}
	slices.SortStableFunc(found, func(a, b *Mistake) int { return cmp.Compare(a.Line, b.Line) })
	return found
}

var lineIn = regexp.MustCompile(`^yaml: (?:line (\d+): )?(?s:(.*))`)

// document is the one document of a file.
func document(file string, text []byte) (*yaml.Node, *Mistake) {
	read := yaml.NewDecoder(bytes.NewReader(text))
	var first, second yaml.Node
	if err := read.Decode(&first); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, &Mistake{file, 1, "", "the file is empty"}
		}
		return nil, notYAML(file, err)
	}
	switch err := read.Decode(&second); {
	case err == nil:
		return nil, &Mistake{file, second.Line, "", "a second document begins here"}
	case !errors.Is(err, io.EOF):
		return nil, notYAML(file, err)
	}
	return first.Content[0], nil
}

func notYAML(file string, err error) *Mistake {
	m := &Mistake{File: file, Line: 1, Problem: err.Error()}
	if found := lineIn.FindStringSubmatch(err.Error()); found != nil {
		if n, err := strconv.Atoi(found[1]); err == nil {
			m.Line = n
		}
		if strings.HasPrefix(found[2], "did not find expected") {
			m.Line++ // of these the library counts lines from 0
		}
		m.Problem = "this is no YAML: " + found[2]
	}
	return m
}
