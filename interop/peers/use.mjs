// Uses our server with a client of the TypeScript SDK and prints what came of it,
// as one line of JSON:
//
//     node use.mjs PACKAGES v2|v1 auto|legacy|modern URL|COMMAND...
//
// PACKAGES is the folder that "make peers" filled.
import { createRequire } from 'node:module';

const [, , packages, sdk, era, target, ...args] = process.argv;
const require = createRequire(packages + '/');
const watched = 'test://watched-resource';

// open gives a client and what differs between the two SDKs.
function open() {
    const info = { name: 'use', version: '1' };
    if (sdk === 'v2') {
        const { Client, StreamableHTTPClientTransport } = require('@modelcontextprotocol/client');
        const { StdioClientTransport } = require('@modelcontextprotocol/client/stdio');
        const mode = era === 'modern' ? { pin: '2026-07-28' } : era;
        const client = new Client(info, { versionNegotiation: { mode } });
        return {
            client, StreamableHTTPClientTransport, StdioClientTransport,
            call: (params, options) => client.callTool(params, options),
            revision: () => client.getNegotiatedProtocolVersion(),
            on: (method, f) => client.setNotificationHandler(method, f),
        };
    }
    const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
    const { StreamableHTTPClientTransport } = require('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const { StdioClientTransport } = require('@modelcontextprotocol/sdk/client/stdio.js');
    const types = require('@modelcontextprotocol/sdk/types.js');
    const client = new Client(info);
    const schemas = {
        'notifications/resources/updated': types.ResourceUpdatedNotificationSchema,
        'notifications/tools/list_changed': types.ToolListChangedNotificationSchema,
    };
    return {
        client, StreamableHTTPClientTransport, StdioClientTransport,
        call: (params, options) => client.callTool(params, undefined, options),
        revision: () => '2025-11-25', // it keeps the revision to itself
        on: (method, f) => client.setNotificationHandler(schemas[method], f),
    };
}

const { client, StreamableHTTPClientTransport, StdioClientTransport, call, revision, on } = open();
const errors = [];
// The SDKs take an answer before a report of progress that came in front of it, if
// both come at once, and then wonder at the report. So reports may be missing at
// the end.
client.onerror = e => /progress notification for an unknown token/.test(e) || errors.push(String(e));
const transport = /^https?:/.test(target)
    ? new StreamableHTTPClientTransport(new URL(target))
    : new StdioClientTransport({ command: target, args });
await client.connect(transport);

const result = { server: client.getServerVersion()?.name, revision: revision() };

result.tools = [];
for (let cursor; ;) {
    const page = await client.listTools(cursor === undefined ? {} : { cursor });
    result.tools.push(...page.tools.map(t => t.name));
    if ((cursor = page.nextCursor) === undefined) break;
}
result.text = (await client.readResource({ uri: 'test://static-text' })).contents[0].text;
result.prompt = (await client.getPrompt({ name: 'test_simple_prompt' })).messages.length;
result.sum = (await call({ name: 'add', arguments: { a: 1, b: 2 } })).structuredContent.sum;

const echoes = await Promise.all(Array.from({ length: 200 }, async (_, i) => {
    const message = `grüße ${i}`;
    const r = await call({ name: 'echo', arguments: { message } });
    return r.content[0].text === message;
}));
result.parallel = echoes.filter(Boolean).length;

const operation = (duration, steps, options) => call({ name: 'trigger-long-running-operation', arguments: { duration, steps } }, options);
result.progress = [];
await operation(0.2, 4, { onprogress: p => result.progress.push(p.progress) });

const abort = new AbortController();
try {
    await operation(60, 1000, { signal: abort.signal, onprogress: () => abort.abort() });
    result.aborted = 'answered';
} catch (e) {
    result.aborted = abort.signal.aborted ? 'rejected' : String(e);
}
result.afterwards = (await call({ name: 'echo', arguments: { message: 'still there' } })).content[0].text;

const updated = new Promise(told => on('notifications/resources/updated', n => told(n.params.uri)));
const changed = new Promise(told => on('notifications/tools/list_changed', () => told(true)));
const modern = result.revision === '2026-07-28';
const subscription = modern
    ? await client.listen({ resourceSubscriptions: [watched], toolsListChanged: true })
    : await client.subscribeResource({ uri: watched });
await call({ name: 'test_trigger_resource_update', arguments: {} });
await call({ name: 'test_trigger_tool_change', arguments: {} });
result.updated = await updated;
result.changed = await changed;
if (modern) {
    await subscription.close();
    result.closed = await subscription.closed;
} else {
    await client.unsubscribeResource({ uri: watched });
    await client.ping();
    if (transport.terminateSession) await transport.terminateSession();
}
result.errors = errors.slice();
await client.close();
console.log(JSON.stringify(result));
