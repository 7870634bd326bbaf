// Package noise tells a change between two sets of measurements from their noise,
// by the bootstrap: each side is drawn again, with replacement, from its own
// repetitions, a thousand times, and what the statistic does over those draws is
// what it would have done had the measurement been made again. The interval that
// holds the middle 95 % of the draws is the confidence interval; a ratio whose
// interval holds 1 is within the noise.
//
// It assumes nothing about how the measurements are distributed, which is what
// latencies need, but that the repetitions are alike and do not depend on each
// other: interleave the runs of both sides. With fewer than five repetitions the
// intervals are too narrow to be trusted.
//
// The package is pure; draws depend on a fixed seed, so the same numbers give the
// same intervals.
package noise
