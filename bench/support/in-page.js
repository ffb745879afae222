// Runs in the page before anything else: what comes, what is seen, and what holds the page up, by the page's own clock.
window.noted = (() => {
  let waited;
  let arrived;
  let shown;
  let tasks = [];

  const Native = WebSocket;
  window.WebSocket = class extends Native {
    constructor(url) {
      super(url);
      this.addEventListener("message", ({ data }) => {
        if (waited && typeof data === "string" && data.includes(waited.data)) arrived ??= performance.now();
      });
    }
  };
  const isThere = () =>
    [...document.querySelectorAll(waited.shows)].some(({ textContent }) =>
      textContent.includes(waited.words),
    );
  new MutationObserver(() => {
    if (arrived === undefined || shown !== undefined || !isThere()) return;
    shown = Promise.withResolvers();
    requestAnimationFrame(() => shown.resolve(performance.now()));
  }).observe(document, { childList: true, subtree: true, characterData: true });
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) tasks.push(duration);
  }).observe({ type: "longtask" });

  const pause = (ms) => new Promise((done) => setTimeout(done, ms));

  return {
    /** `data` stands in the message that brings it; what `shows` selects and has those `words` shows it. */
    await(next) {
      [waited, arrived, shown] = [next, undefined, undefined];
    },
    /** From the moment the data came until the frame in which it was seen. */
    async took() {
      while (!shown) await pause(5);
      return (await shown.promise) - arrived;
    },
    /** The longest task of scrolling, up or down, whichever way there is more. Browsers report none below 50 ms: 0. */
    async scrollThrough(box, steps) {
      const place = document.querySelector(box);
      const way = place.scrollTop > 0 ? -700 : 700;
      await pause(300);
      tasks = [];
      for (let step = 0; step < steps; step++) {
        place.scrollBy(0, way);
        await new Promise((done) => requestAnimationFrame(done));
      }
      await pause(100);
      return Math.max(0, ...tasks);
    },
  };
})();
