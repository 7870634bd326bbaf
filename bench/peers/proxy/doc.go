// Package proxy has proxies of tools/call as users of the MCP SDKs write them: a
// server that clients connect to, each over a connection of its own, and whose tool
// calls the same tool of one upstream server over one client.
package proxy
