"use strict";
// Draws what /status/events says. The token comes with the address, behind the #, where
// no server and no log sees it, and is kept for this tab.
const at = (id) => document.getElementById(id);
const given = new URLSearchParams(location.hash.slice(1)).get("token");
if (given) {
	sessionStorage.setItem("token", given);
	history.replaceState(null, "", location.pathname);
}
const token = () => sessionStorage.getItem("token") || "";
const headers = () => (token() ? { Authorization: "Bearer " + token() } : {});
const count = (n) => n.toLocaleString("en");
const ms = (x) => (x === 0 ? "–" : x < 1 ? x.toFixed(2) + " ms" : x < 1000 ? x.toPrecision(3) + " ms" : (x / 1000).toPrecision(3) + " s");
const age = (ns) => {
	const s = ns / 1e9;
	return s < 60 ? s.toFixed(1) + " s" : s < 3600 ? Math.floor(s / 60) + " min " + Math.floor(s % 60) + " s" : Math.floor(s / 3600) + " h " + Math.floor((s % 3600) / 60) + " min";
};

function cell(row, text, kind) {
	const td = row.insertCell();
	td.textContent = text;
	if (kind) td.className = kind;
	return td;
}

function state(text, kind) {
	at("state").textContent = text;
	at("state").className = "state " + kind;
}

function counts(id, values) {
	const rows = Object.entries(values).sort();
	const out = [];
	for (const [name, n] of rows) {
		const dt = document.createElement("dt"), dd = document.createElement("dd");
		dt.textContent = name.replaceAll("_", " ");
		dd.textContent = count(n);
		out.push(dt, dd);
	}
	if (!out.length) {
		const dt = document.createElement("dt");
		dt.textContent = "none";
		out.push(dt, document.createElement("dd"));
	}
	at(id).replaceChildren(...out);
}

function drawUpstream(u) {
	const row = document.createElement("tr");
	const name = cell(row, u.name);
	const how = document.createElement("small");
	how.textContent = u.opener + " · " + u.isolation;
	how.title = u.opener;
	name.append(how);
	const s = cell(row, u.state, u.state);
	if (u.lastError) {
		const why = document.createElement("small");
		why.textContent = why.title = u.lastError;
		s.append(why);
	}
	cell(row, u.up + " of " + u.ways, "n");
	cell(row, count(u.inFlight), "n");
	cell(row, count(u.queued), "n");
	cell(row, u.perSecond.toFixed(1), "n");
	cell(row, ms(u.p50Ms), "n");
	cell(row, ms(u.p99Ms), "n");
	cell(row, Object.entries(u.errors).sort().map(([k, n]) => k + " " + count(n)).join(", ") || "none");
	cell(row, count(u.late), "n");
	cell(row, count(u.chatter), "n");
	cell(row, count(u.restarts), "n");
	return row;
}

// Rows of calls stay as long as their calls, so that a button does not move from under
// a finger when a drawing comes.
const rows = new Map();

function drawSlowest(calls) {
	const seen = new Set();
	const order = [];
	for (const c of calls) {
		const key = c.client + " " + c.id;
		seen.add(key);
		let row = rows.get(key);
		if (!row) {
			row = document.createElement("tr");
			cell(row, "", "n");
			cell(row, c.upstream);
			cell(row, c.method);
			cell(row, c.tool || "");
			cell(row, "#" + c.client + " " + (c.identity || c.transport));
			cell(row, c.id);
			cell(row, "");
			const button = document.createElement("button");
			button.type = "button";
			button.textContent = "Cancel";
			button.setAttribute("aria-label", "Cancel " + c.method + " " + c.id + " of client " + c.client);
			button.addEventListener("click", () => cancel(c, button));
			row.insertCell().append(button);
			rows.set(key, row);
		}
		row.cells[0].textContent = age(c.ageNs);
		row.cells[1].textContent = c.upstream;
		row.cells[6].textContent = c.sent ? "sent" : "waiting";
		order.push(row);
	}
	for (const [key, row] of rows) {
		if (!seen.has(key)) {
			row.remove();
			rows.delete(key);
		}
	}
	const body = at("slowest");
	order.forEach((row, i) => {
		if (body.rows[i] !== row) body.insertBefore(row, body.rows[i] || null);
	});
	at("none").hidden = calls.length > 0;
}

async function cancel(c, button) {
	button.disabled = true;
	at("said").textContent = "";
	const r = await fetch("/status/cancel", { method: "POST", headers: headers(), body: JSON.stringify({ client: c.client, id: c.id }) }).catch(() => null);
	if (r && r.ok) return;
	button.disabled = false;
	if (r && r.status === 401) {
		at("said").textContent = "That needs the status token.";
		at("token").focus();
		return;
	}
	at("said").textContent = r ? (await r.text()).trim() : "The gateway does not answer.";
}

function draw(s) {
	state(s.draining ? "Draining" : "Live", "live");
	at("sessions").textContent = count(s.sessions);
	at("inflight").textContent = count(s.inFlight);
	at("rate").textContent = s.upstreams.reduce((sum, u) => sum + u.perSecond, 0).toFixed(1);
	at("upstreams").replaceChildren(...s.upstreams.map(drawUpstream));
	drawSlowest(s.slowest);
	counts("calls", s.calls);
	counts("dropped", s.dropped);
}

let stream = null;

// listen reads the event stream by hand, since an EventSource sends no token.
async function listen() {
	if (stream) stream.abort();
	const mine = (stream = new AbortController());
	while (stream === mine) {
		try {
			const r = await fetch("/status/events", { headers: headers(), signal: mine.signal });
			if (r.status === 401) {
				state("The token is wanted", "lost");
				return;
			}
			if (!r.ok) throw new Error(r.status);
			let rest = "";
			const reader = r.body.pipeThrough(new TextDecoderStream()).getReader();
			for (;;) {
				const { value, done } = await reader.read();
				if (done) break;
				const events = (rest + value).split("\n\n");
				rest = events.pop();
				const last = events.pop();
				if (last) draw(JSON.parse(last.slice("data: ".length)));
			}
		} catch (e) {
			if (mine.signal.aborted) return;
		}
		state("Lost", "lost");
		await new Promise((done) => setTimeout(done, 1000));
	}
}

at("auth").addEventListener("submit", (e) => {
	e.preventDefault();
	sessionStorage.setItem("token", at("token").value.trim());
	at("token").value = "";
	at("said").textContent = "";
	listen();
});
listen();
