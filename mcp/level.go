package mcp

// Level is the severity of a log line, by RFC 5424. The zero value is none: no
// line was asked for.
type Level uint8

// The levels, rising.
const (
	LevelNone Level = iota
	LevelDebug
	LevelInfo
	LevelNotice
	LevelWarning
	LevelError
	LevelCritical
	LevelAlert
	LevelEmergency
)

var levelNames = [...]string{"", "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// String is the level's name on the wire, "" for LevelNone.
func (l Level) String() string { return levelNames[min(int(l), len(levelNames)-1)] }

// ParseLevel reads a level's name; false for any other text.
func ParseLevel(name []byte) (Level, bool) {
	for l := LevelDebug; l <= LevelEmergency; l++ {
		if string(name) == levelNames[l] {
			return l, true
		}
	}
	return LevelNone, false
}
