package claim

// Bound says on which side of the demand a measured value has to lie.
type Bound uint8

// The bounds.
const (
	Shown   Bound = iota // nothing is demanded; the value stands for comparison
	AtMost               // the demand is the largest good value
	AtLeast              // the demand is the smallest good value
)

// String is "shown", "at most" or "at least".
func (b Bound) String() string {
	switch b {
	case AtMost:
		return "at most"
	case AtLeast:
		return "at least"
	}
	return "shown"
}

// Claim is one performance claim.
type Claim struct {
	// Area groups claims: engine, codec. Name says what is claimed, and is unique
	// within its area.
	Area, Name string
	// Bound and Demand say what is demanded, in Unit.
	Bound  Bound
	Demand float64
	// Unit follows the numbers in the report. A duration's unit is "ns".
	Unit string
	// Measure returns the value. Claims are measured one after the other.
	Measure func(*Session) (float64, error)
}

// full is the claim's name with its area, which is unique.
func (c Claim) full() string { return c.Area + ": " + c.Name }

// Verdict is what became of a claim.
type Verdict string

// The verdicts.
const (
	OK      Verdict = "ok"
	Short   Verdict = "short"
	ShownOK Verdict = "shown"
	Failed  Verdict = "failed" // it could not be measured
)

// Judge compares a measured value with the claim. A value that is no number
// falls short.
func (c Claim) Judge(measured float64) Verdict {
	switch {
	case c.Bound == Shown:
		return ShownOK
	case c.Bound == AtMost && measured <= c.Demand, c.Bound == AtLeast && measured >= c.Demand:
		return OK
	}
	return Short
}
