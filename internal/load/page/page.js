"use strict";
// The readout under the pointer. Everything that it says stands in data
// attributes beside the drawing; nothing is computed here but places.
(() => {
  const all = (text, by) => (text ? text.split(by) : []);
  let reading = null; // {id, at: [x, y] as shares of the drawing}

  function parts(area) {
    let box = area.querySelector(".readout");
    if (!box) {
      for (const name of ["cursor", "cell", "readout"]) {
        const e = document.createElement("div");
        e.className = name;
        area.append(e);
      }
      box = area.querySelector(".readout");
      box.setAttribute("role", "status");
    }
    return { box, cursor: area.querySelector(".cursor"), cell: area.querySelector(".cell") };
  }

  function say(box, head, rows) {
    box.replaceChildren();
    const b = document.createElement("b");
    b.textContent = head;
    box.append(b);
    for (const [colour, name, value] of rows) {
      const row = document.createElement("div"), left = document.createElement("span"), right = document.createElement("span");
      row.className = "row";
      if (colour) {
        const i = document.createElement("i");
        i.style.color = colour;
        left.append(i);
      }
      left.append(name);
      right.textContent = value;
      row.append(left, right);
      box.append(row);
    }
  }

  // beside puts the box where it does not cover what is read.
  function beside(area, box, x) {
    const wide = area.clientWidth, left = x * wide / 1000;
    const own = box.offsetWidth;
    box.style.left = (left + 14 + own <= wide ? left + 14 : Math.max(left - 14 - own, 0)) + "px";
  }

  function nearest(xs, x) {
    let best = 0;
    for (let i = 1; i < xs.length; i++) if (Math.abs(xs[i] - x) < Math.abs(xs[best] - x)) best = i;
    return best;
  }

  function readLines(area, x) {
    const xs = all(area.dataset.xs, " ").map(Number), heads = all(area.dataset.heads, "|");
    if (!xs.length) return;
    const i = nearest(xs, x * 1000), { box, cursor } = parts(area), rows = [];
    for (const dot of area.querySelectorAll(".dot")) dot.remove();
    for (const path of area.querySelectorAll("path.line")) {
      const y = all(path.dataset.ys, " ")[i], colour = getComputedStyle(path).color;
      rows.push([colour, path.dataset.name, all(path.dataset.values, "|")[i] || "–"]);
      if (y === undefined || y === "-") continue;
      const dot = document.createElement("div");
      dot.className = "dot";
      dot.style.cssText = `left:${xs[i] / 10}%;top:${y / 10}%;color:${colour}`;
      area.append(dot);
    }
    cursor.style.left = xs[i] / 10 + "%";
    say(box, heads[i], rows);
    area.classList.add("reading");
    beside(area, box, xs[i]);
    return i;
  }

  function readCells(area, x, y) {
    const edges = all(area.dataset.edges, " ").map(Number), rows = all(area.dataset.rows, "|");
    if (!edges.length) return;
    let i = edges.findIndex((e) => x * 1000 <= e);
    if (i < 0) i = edges.length - 1;
    const row = Math.min(Math.max(Math.floor((1 - y) * rows.length), 0), rows.length - 1);
    let here = 0, sum = 0;
    for (const pair of all(all(area.dataset.cells, "|")[i], ",")) {
      const [r, n] = pair.split(":").map(Number);
      sum += n;
      if (r === row) here = n;
    }
    const { box, cell, cursor } = parts(area), from = i ? edges[i - 1] : 0, high = 100 / rows.length;
    cell.style.cssText = `left:${from / 10}%;width:${(edges[i] - from) / 10}%;bottom:${row * high}%;height:${high}%`;
    cursor.style.display = "none";
    const part = sum ? here / sum * 100 : 0;
    say(box, all(area.dataset.heads, "|")[i], [
      ["", rows[row], here.toLocaleString("en")],
      ["", "of all then", (part && part < 0.1 ? "<0.1" : part.toFixed(1)) + "%"],
    ]);
    area.classList.add("reading");
    beside(area, box, edges[i]);
    return [i, row];
  }

  function read(area, x, y) {
    if (reading && reading.area !== area) end();
    reading = { area, id: area.closest("figure").id, x, y };
    return area.dataset.edges ? readCells(area, x, y) : readLines(area, x);
  }

  function end() {
    if (!reading) return;
    reading.area.classList.remove("reading");
    for (const dot of reading.area.querySelectorAll(".dot")) dot.remove();
    reading = null;
  }

  const place = (v, size) => Math.min(Math.max(v / size, 0), 1);
  document.addEventListener("pointermove", (e) => {
    const area = e.target.closest && e.target.closest(".area");
    if (!area) return end();
    const r = area.getBoundingClientRect();
    read(area, place(e.clientX - r.left, r.width), place(e.clientY - r.top, r.height));
  });
  document.addEventListener("pointerleave", end);
  document.addEventListener("focusout", end);
  document.addEventListener("keydown", (e) => {
    const area = e.target.closest && e.target.closest(".area");
    if (e.key === "Escape") return end();
    const dx = { ArrowLeft: -1, ArrowRight: 1 }[e.key] || 0, dy = { ArrowUp: -1, ArrowDown: 1 }[e.key] || 0;
    if (!area || !(dx || dy && area.dataset.edges)) return;
    e.preventDefault();
    const last = reading && reading.area === area ? reading : { x: dx > 0 ? 0 : 1, y: 0.5 };
    if (area.dataset.edges) {
      const edges = all(area.dataset.edges, " ").map(Number), rows = all(area.dataset.rows, "|").length;
      let i = edges.findIndex((v) => last.x * 1000 <= v);
      i = Math.min(Math.max((i < 0 ? edges.length - 1 : i) + (reading ? dx : 0), 0), edges.length - 1);
      read(area, ((i ? edges[i - 1] : 0) + edges[i]) / 2000, place(last.y + dy / rows, 1));
      return;
    }
    const xs = all(area.dataset.xs, " ").map(Number);
    const i = nearest(xs, last.x * 1000) + (reading ? dx : 0);
    read(area, xs[Math.min(Math.max(i, 0), xs.length - 1)] / 1000, 0.5);
  });

  // A live page draws anew while somebody reads: the readout stays where it was,
  // and so does the keyboard.
  window.redraw = (html) => {
    const was = reading, root = document.getElementById("report");
    const focus = document.activeElement && document.activeElement.closest(".area");
    const focused = focus && focus.closest("figure").id;
    reading = null;
    root.innerHTML = html;
    const find = (id) => id && document.getElementById(id) && document.getElementById(id).querySelector(".area");
    const target = find(focused);
    if (target) target.focus({ preventScroll: true });
    const again = was && find(was.id);
    if (again) read(again, was.x, was.y);
  };
})();
