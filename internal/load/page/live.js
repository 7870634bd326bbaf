"use strict";
// The live page: draws what the run sends, and carries the buttons' wishes back.
(() => {
  const token = new URLSearchParams(location.search).get("token") || "";
  const $ = (id) => document.getElementById(id);
  const buttons = ["pause", "slower", "faster", "stop"].map($);
  let over = false;

  function show(s) {
    if ($("state").textContent !== s.state) $("state").textContent = s.state; // a screen reader says each change
    $("detail").textContent = s.detail;
    document.title = s.title;
    over = s.over;
    $("pause").textContent = s.paused ? "Resume" : "Pause";
    $("pause").dataset.do = s.paused ? "resume" : "pause";
    for (const b of buttons) b.disabled = s.over || s.stopping || (b.id === "slower" || b.id === "faster") && !s.open;
    $("slower").title = $("faster").title = s.open ? "" : "A closed loop has no rate.";
  }

  const events = new EventSource("events?token=" + encodeURIComponent(token));
  events.addEventListener("frame", (e) => {
    const frame = JSON.parse(e.data);
    redraw(frame.html);
    show(frame);
    if (over) events.close();
  });
  events.onerror = () => {
    if (over) return;
    $("state").textContent = "Connection lost";
    $("detail").textContent = "What stands here is the last that came.";
    if (events.readyState === EventSource.CLOSED) for (const b of buttons) b.disabled = true;
  };

  document.querySelector(".console").addEventListener("click", async (e) => {
    const b = e.target.closest("button");
    if (!b || b.disabled) return;
    try {
      const r = await fetch("control", { method: "POST", headers: { "X-Loadgen-Token": token, "Content-Type": "text/plain" }, body: b.dataset.do });
      if (!r.ok) throw new Error((await r.text()).trim());
    } catch (err) {
      $("detail").textContent = "That did not work: " + err.message;
    }
  });
})();
