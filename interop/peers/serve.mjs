// A server of the TypeScript SDK, version 2, with the tools of the workshop:
//
//     node serve.mjs PACKAGES stdio|http
//
// PACKAGES is the folder that "make peers" filled. With http it says its URL on
// standard error.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';

const [, , packages, way] = process.argv;
const require = createRequire(packages + '/');
const { McpServer, createMcpHandler, fromJsonSchema } = require('@modelcontextprotocol/server');
const { serveStdio } = require('@modelcontextprotocol/server/stdio');

const numbered = fromJsonSchema({ type: 'object', properties: { n: { type: 'integer' } } });
const text = t => ({ content: [{ type: 'text', text: String(t) }] });
const report = ({ mcpReq }, progress) => mcpReq.notify({
    method: 'notifications/progress',
    params: { progressToken: mcpReq._meta.progressToken, progress, total: 20 },
});
let handler;

function workshop() {
    const server = new McpServer({ name: 'workshop.mjs', version: '1' }, { capabilities: { tools: { listChanged: true } } });
    const tool = (name, f) => server.registerTool(name, { inputSchema: numbered }, f);
    tool('double', ({ n }) => text(2 * n));
    tool('steps', async ({ n }, ctx) => {
        for (let i = 1; i <= n; i++) await report(ctx, i);
        return text('done');
    });
    tool('linger', async (_, ctx) => {
        const aborted = new Promise(done => ctx.mcpReq.signal.addEventListener('abort', done));
        await report(ctx, 1);
        await aborted;
        return text('never to be seen');
    });
    tool('touch', () => {
        if (handler) handler.notify.toolsChanged();
        else server.sendToolListChanged();
        return text('touched');
    });
    return server;
}

async function answer(req, res) {
    const chunks = [];
    for await (const chunk of req) chunks.push(chunk);
    const gone = new AbortController();
    res.on('close', () => gone.abort());
    const headers = new Headers();
    for (const [name, value] of Object.entries(req.headers)) headers.set(name, String(value));
    const body = chunks.length > 0 ? Buffer.concat(chunks) : undefined;
    const response = await handler.fetch(new Request(`http://${req.headers.host}${req.url}`, { method: req.method, headers, body, signal: gone.signal }));
    res.writeHead(response.status, Object.fromEntries(response.headers));
    if (response.body) {
        const reader = response.body.getReader();
        res.on('close', () => reader.cancel().catch(() => {}));
        for (let part; !(part = await reader.read()).done;) res.write(part.value);
    }
    res.end();
}

if (way === 'stdio') {
    serveStdio(workshop);
} else {
    handler = createMcpHandler(workshop);
    const web = createServer((req, res) => answer(req, res).catch(e => {
        if (!res.destroyed) console.error(e);
        res.destroy();
    }));
    web.listen(0, '127.0.0.1', () => console.error(`workshop.mjs: http://127.0.0.1:${web.address().port}/mcp`));
    process.on('SIGINT', () => process.exit(0));
}
