package config

import (
	"fmt"

	"github.com/pelletier/go-toml/v2/unstable"
)

// keyLines maps every dotted key of a syntactically sound file to the line it stands on, counted
// from 1. Elements of arrays of tables carry their index: "printers[1].url".
func keyLines(text []byte) map[string]int {
	m := liner{lines: map[string]int{}, counts: map[string]int{}}
	m.parser.Reset(text)
	table := ""
	for m.parser.NextExpression() {
		node := m.parser.Expression()
		switch node.Kind {
		case unstable.Table:
			table = m.path(node, "")
		case unstable.ArrayTable:
			bare := m.path(node, "")
			table = fmt.Sprintf("%s[%d]", bare, m.counts[bare])
			m.counts[bare]++
			m.lines[table] = m.line(node)
		case unstable.KeyValue:
			m.keyValue(node, table)
		}
	}
	return m.lines
}

// liner walks the syntax tree of one file.
type liner struct {
	parser unstable.Parser
	lines  map[string]int
	// counts has the number of elements seen of every array of tables.
	counts map[string]int
}

// keyValue notes a key and, for inline tables and arrays, what is inside.
func (m *liner) keyValue(node *unstable.Node, table string) {
	path := m.path(node, table)
	m.values(node.Value(), path, m.lines[path])
}

func (m *liner) values(node *unstable.Node, path string, line int) {
	children := node.Children()
	switch node.Kind {
	case unstable.InlineTable:
		for children.Next() {
			m.keyValue(children.Node(), path)
		}
	case unstable.Array:
		for i := 0; children.Next(); {
			if children.Node().Kind == unstable.Comment {
				continue
			}
			at := fmt.Sprintf("%s[%d]", path, i)
			m.lines[at] = line
			m.values(children.Node(), at, line)
			i++
		}
	}
}

// path joins a node's key to table and notes the line of every part that has none yet. A part
// before the last that is an array of tables stands for its newest element (TOML 1.0, "array of
// tables").
func (m *liner) path(node *unstable.Node, table string) string {
	path := table
	for key := node.Key(); key.Next(); {
		path = join(path, string(key.Node().Data))
		if _, known := m.lines[path]; !known {
			m.lines[path] = m.parser.Shape(key.Node().Raw).Start.Line
		}
		if !key.IsLast() {
			path += m.newest(path)
		}
	}
	return path
}

func (m *liner) newest(path string) string {
	if n := m.counts[path]; n > 0 {
		return fmt.Sprintf("[%d]", n-1)
	}
	return ""
}

func (m *liner) line(node *unstable.Node) int {
	line := 0
	for key := node.Key(); key.Next(); {
		line = m.parser.Shape(key.Node().Raw).Start.Line
	}
	return line
}

func join(table, key string) string {
	if table == "" {
		return key
	}
	return table + "." + key
}
