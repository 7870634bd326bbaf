// Package contest measures every contender of every row, each time in a process
// of its own, and makes a report of it.
//
// A row's rounds follow each other, and within a round every contender has its
// turn, each round in another order: a slow phase of the machine falls on all of
// them, and ratios are taken within rounds. The server is one process per
// protocol that lasts for the whole run; over the in-memory pipe it is a
// goroutine of the client's process, whose figures then include it.
//
// A contender that fails in one round (an error, a deadlock, more time than its
// budget) is not asked again; its entry says why.
//
// What is measured in a child is a [Cell]: the client, the server and the work
// are named apart, so that a row may as well keep the client and vary the server.
package contest
