// Package slo reads the goals of a load test and judges them:
//
//	p99<5ms,p99.9<20ms,error<0.1%,rate>=4900,allocs<1
//
// A goal is a metric, one of < <= > >= and a limit. Goals are joined by commas;
// spaces are ignored.
//
//	metric                               limit              meaning
//	p50 p99.9 ... min mean max           5ms                response time, from when a call was due
//	service.p50 ... service.max          5ms                service time, from when it was sent
//	error                                0.1% or a count    sent calls that did not end well, whatever the reason, except those cut at the end
//	rejected timeout cancelled lost      0.1% or a count    those that ended so
//	late duplicate unknown               0.1% or a count    answers that no call was waiting for
//	behind dropped                       0.1% or a count    calls sent after they were due, or not at all, in an open loop
//	rate offered                         4900, 5k, 60/m     answered, and sent, calls per second
//	cpu                                  2us                CPU time per call
//	allocs heap bytes writes             1, 1.5k            per call: allocations, heap bytes, bytes sent and received, write calls
//	gc                                   10                 collections in the whole run
//
// A percentage is of the calls sent, for dropped and behind of the calls planned.
// A goal that cannot be measured fails. The package is pure.
package slo
