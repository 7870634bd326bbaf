package plan

import (
	"math"
	"time"
)

// Schedule gives the planned time of each request, one after the other. Within
// a constant stage they are evenly spaced. A Schedule belongs to one goroutine.
//
// I1: request k is planned at the first time at which the integral of the rate
// reaches k. Nothing accumulates from request to request, so a long run does not
// drift.
type Schedule struct {
	stages []Stage
	at     int           // the stage in force
	began  time.Duration // when it began
	before float64       // the integral of the rate when it began
	next   int64         // the number of the next request
}

// NewSchedule returns the schedule of stages, which begin at 0 and follow one
// another. It keeps the slice.
func NewSchedule(stages []Stage) *Schedule { return &Schedule{stages: stages} }

// Next returns the planned time of the next request, and false after the last.
func (s *Schedule) Next() (time.Duration, bool) {
	for s.at < len(s.stages) {
		stage := s.stages[s.at]
		ahead := float64(s.next) - s.before // requests since the stage began
		if total := stage.requests(); ahead >= total {
			s.before += total
			s.began += stage.For
			s.at++
			continue
		}
		s.next++
		return s.began + stage.reach(max(ahead, 0)), true
	}
	return 0, false
}

// Scale multiplies the rate by factor from at on; how long the stages last does
// not change, and requests that Next has given keep their times.
func (s *Schedule) Scale(at time.Duration, factor float64) {
	var out []Stage
	var began time.Duration
	for _, stage := range s.stages {
		head := min(max(at-began, 0), stage.For) // the part of the stage before at
		middle := stage.From + (stage.To-stage.From)*head.Seconds()/stage.For.Seconds()
		if head > 0 {
			out = append(out, Stage{For: head, From: stage.From, To: middle})
		}
		if head < stage.For {
			out = append(out, Stage{For: stage.For - head, From: middle * factor, To: stage.To * factor})
		}
		began += stage.For
	}
	// Next finds its place again from the number of the next request.
	*s = Schedule{stages: out, next: s.next}
}

// Length is the time at which the last stage ends.
func (s *Schedule) Length() time.Duration {
	var sum time.Duration
	for _, stage := range s.stages {
		sum += stage.For
	}
	return sum
}

// Requests is the number of requests of the whole schedule.
func (s *Schedule) Requests() int64 {
	var sum float64
	for _, stage := range s.stages {
		sum += stage.requests()
	}
	return int64(math.Ceil(sum))
}

// requests is the integral of the rate over the stage.
func (s Stage) requests() float64 { return (s.From + s.To) / 2 * s.For.Seconds() }

// reach returns when the integral of the rate reaches n: the smaller root of
// a t² + From t = n, in the form that loses no digits when a is small.
func (s Stage) reach(n float64) time.Duration {
	if n == 0 {
		return 0
	}
	a := (s.To - s.From) / (2 * s.For.Seconds())
	root := math.Sqrt(max(s.From*s.From+4*a*n, 0))
	return min(time.Duration(2*n/(s.From+root)*float64(time.Second)), s.For)
}
