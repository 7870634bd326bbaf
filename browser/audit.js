// What a person would trip over, as a list of sentences. It is run in the page.
(() => {
  const found = [];
  const say = (e, text) => found.push(`${e.tagName.toLowerCase()}.${e.getAttribute("class") || ""} in ${(e.closest("[id]") || {}).id || "page"} “${(e.textContent || "").trim().slice(0, 30)}”: ${text}`);
  const visible = (e) => e.getClientRects().length > 0 && getComputedStyle(e).visibility !== "hidden";
  const wide = document.documentElement.clientWidth;

  if (document.documentElement.scrollWidth > wide) found.push(`the page is ${document.documentElement.scrollWidth} px wide on a screen of ${wide}`);
  for (const e of document.body.querySelectorAll("*")) {
    if (!visible(e) || e.closest("svg") && e.tagName !== "svg" || e.closest(".scroll") && !e.matches(".scroll")) continue;
    const r = e.getBoundingClientRect();
    if (r.right > wide + 0.5 || r.left < -0.5) say(e, `reaches from ${r.left.toFixed(0)} to ${r.right.toFixed(0)} on a screen of ${wide}`);
  }

  // Colours as [r, g, b, a], laid over each other from the page up.
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true }), colours = new Map();
  const colour = (text) => {
    if (!colours.has(text)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = text;
      canvas.fillRect(0, 0, 1, 1);
      const d = canvas.getImageData(0, 0, 1, 1).data;
      colours.set(text, [d[0], d[1], d[2], d[3] / 255]);
    }
    return colours.get(text);
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const cache = new Map();
  const ground = (e) => {
    if (!e) return [255, 255, 255, 1];
    if (!cache.has(e)) cache.set(e, over(colour(getComputedStyle(e).backgroundColor), ground(e.parentElement)));
    return cache.get(e);
  };
  const light = (c) => {
    const [r, g, b] = c.slice(0, 3).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };

  let least = Infinity, texts = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n = walker.nextNode(); n; n = walker.nextNode()) {
    const e = n.parentElement;
    if (!n.data.trim() || !visible(e) || e.closest("script,style,svg")) continue;
    texts++;
    const s = getComputedStyle(e), size = parseFloat(s.fontSize), below = ground(e);
    if (size < 12) say(e, `text of ${size} px`);
    const c = contrast(over(colour(s.color), below), below);
    least = Math.min(least, c);
    if (c < 4.5 && !e.closest(":disabled")) say(e, `contrast of ${c.toFixed(2)}`);
  }
  for (const path of document.querySelectorAll("svg path.line")) {
    const below = ground(path.closest("figure")), c = contrast(colour(getComputedStyle(path).color), below);
    if (c < 3) say(path, `a line with a contrast of ${c.toFixed(2)}`);
  }

  // Labels of an axis stand apart.
  for (const axis of document.querySelectorAll(".xaxis,.yaxis")) {
    const boxes = [...axis.querySelectorAll("span")].map((e) => [e, e.getBoundingClientRect()]);
    for (let i = 1; i < boxes.length; i++) {
      const [a, b] = [boxes[i - 1][1], boxes[i][1]];
      if (a.right > b.left && b.right > a.left && a.bottom > b.top && b.bottom > a.top) say(boxes[i][0], "lies over the label before");
    }
  }

  // Charts are drawn where they can be seen.
  let lines = 0;
  for (const path of document.querySelectorAll(".plot svg path.line")) {
    lines++;
    const b = path.getBBox(), box = path.closest("svg").getBoundingClientRect();
    if (path.getTotalLength() < 100) say(path, `a line of ${path.getTotalLength()}`);
    if (b.x < -1 || b.y < -1 || b.x + b.width > 1001 || b.y + b.height > 1001) say(path, "leaves its drawing");
    if (box.width < 200 || box.height < 150) say(path, `in a drawing of ${box.width} by ${box.height} px`);
    const values = path.dataset.values.split("|"), ys = path.dataset.ys.split(" "), xs = path.closest(".area").dataset.xs.split(" ");
    if (values.length !== xs.length || ys.length !== xs.length) say(path, "reads other places than it has");
  }
  let cells = 0;
  for (const path of document.querySelectorAll(".heat svg path:is(.h1,.h2,.h3,.h4,.h5,.h6,.h7)")) cells += path.getAttribute("d").split("M").length - 1;
  const shades = [...document.querySelectorAll(".heat svg path:is(.h1,.h7)")].map((e) => contrast(colour(getComputedStyle(e).fill), ground(e.closest("figure"))));

  // Whoever does not see the page hears it.
  for (const e of document.querySelectorAll("svg[role=img],.area,.scroll[tabindex]")) if (!(e.getAttribute("aria-label") || "").trim()) say(e, "has no label");
  for (const e of document.querySelectorAll("button")) if (!e.textContent.trim()) say(e, "has no label");
  if (document.querySelectorAll("h1").length !== 1) found.push("not one h1");
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i))) found.push(`two elements are called ${id}`);

  return { found, lines, cells, texts, least, shades, paper: light(ground(document.body)) };
})()
