// Clients of the TypeScript SDK, version 2, all at once behind one endpoint, each with a
// mark of its own in what it says. Prints what went wrong, and how much progress came,
// as one line of JSON:
//
//     node crowd.mjs PACKAGES URL PREFIX FROM TO CANCEL_EVERY
//
// Marks are the numbers from FROM up to TO; even ones are of the older era. PREFIX is
// that of the tools. Every CANCEL_EVERY-th gives up one of its calls.
import { createRequire } from 'node:module';

const [, , packages, url, prefix, from, to, cancelEvery] = process.argv;
const require = createRequire(packages + '/');
const { Client, StreamableHTTPClientTransport } = require('@modelcontextprotocol/client');

const errors = [];
let heard = 0;

async function visit(mark) {
    const wrong = text => errors.push(`client ${mark}: ${text}`);
    const mode = mark % 2 === 0 ? 'legacy' : { pin: '2026-07-28' };
    const client = new Client({ name: `client ${mark}`, version: '1' }, { versionNegotiation: { mode } });
    // The SDK takes an answer before a report that came in front of it, and then
    // wonders at the report.
    client.onerror = e => /progress notification for an unknown token/.test(e) || wrong(String(e));
    const transport = new StreamableHTTPClientTransport(new URL(url));
    await client.connect(transport);

    const call = async (name, args, want, options) => {
        const r = await client.callTool({ name: prefix + name, arguments: args }, { timeout: 300_000, ...options });
        const got = r.content[0].text;
        if (got !== want) wrong(`another's answer: ${got}, want ${want}`);
    };
    const echo = round => call('echo', { message: `mark ${mark}, round ${round}` }, `Echo: mark ${mark}, round ${round}`);
    const reports = (steps, then) => ({
        onprogress: p => {
            heard++;
            if (p.total !== steps) wrong(`another's progress: ${JSON.stringify(p)}, want ${steps}`);
            then?.();
        },
    });

    await Promise.all([0, 1, 2].map(echo));
    const steps = 5 + mark;
    await call('trigger-long-running-operation', { duration: 0.5, steps },
        `Long running operation completed. Duration: 0.5 seconds, Steps: ${steps}.`, reports(steps));
    if (mark % cancelEvery === 0) {
        const abort = new AbortController();
        try {
            await call('trigger-long-running-operation', { duration: 30, steps: 1000 + mark }, '',
                { signal: abort.signal, ...reports(1000 + mark, () => abort.abort()) });
            wrong('a call that was given up was answered');
        } catch (e) {
            if (!abort.signal.aborted) throw e;
        }
    }
    await echo(9);
    if (mark % 2 === 0) await transport.terminateSession();
    await client.close();
}

const marks = Array.from({ length: to - from }, (_, i) => Number(from) + i);
await Promise.all(marks.map(m => visit(m).catch(e => errors.push(`client ${m}: ${e.stack}`))));
console.log(JSON.stringify({ errors, heard }));
