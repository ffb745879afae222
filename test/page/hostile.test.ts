import type { Page } from "playwright-core";
import { describe, expect, inject, test } from "vitest";
import { pageBrowser, shot } from "../support/page/browser.js";
import { pathOf, said, threadStage } from "./thread-scenes.js";

/** Everything an attacker could put into a text; each would set `window.owned`, ask another host, or look like the page. */
const ATTACKS = [
  `<script>window.owned = "script"</script>`,
  `<img src="x" onerror="window.owned = 'img'">`,
  `<svg onload="window.owned = 'svg'"><script>window.owned = 'svg script'</script></svg>`,
  `<iframe srcdoc="<script>parent.owned = 'frame'</script>"></iframe>`,
  `<a href="javascript:window.owned='a'">click</a> [click](javascript:window.owned='link') <javascript:owned=1>`,
  `[click](data:text/html,<script>opener.owned=1</script>) [x](vbscript:owned) [y](file:///etc/passwd)`,
  `![pixel](http://elsewhere.invalid/pixel.png) <img src="http://elsewhere.invalid/two.png">`,
  `<link rel="stylesheet" href="http://elsewhere.invalid/a.css"><style>body { display: none }</style>`,
  `<form action="http://elsewhere.invalid"><input name="token"><button class="btn primary">Allow once</button></form>`,
  `<div class="ask" id="root" data-approval="x" role="group" aria-label="Codex wants to run a command" style="position:fixed;inset:0">Trust me</div>`,
  `<object data="http://elsewhere.invalid"></object><embed src="http://elsewhere.invalid"><base href="http://elsewhere.invalid">`,
  `[https://bank.example/login](https://evil.invalid/login)`,
  `[^1] and \n\n[^1]: <b id="composer">note</b>`,
  `- [ ] task\n- [x] <input type="checkbox" class="btn">`,
  `\`\`\`"><script>window.owned='info'</script>\n</code></pre><script>window.owned = 'fence'</script>\n\`\`\``,
  `| a |\n|---|\n| <img src=x onerror="window.owned='table'"> |`,
  "safe \u202egnp.exe\u202c and \u2066isolated\u2069 \u{e0041}\u{e0042}",
  `Z${"\u0301\u0302\u0303\u0304".repeat(60)}algo`,
  "w".repeat(20_000),
  `${"[".repeat(3_000)}${"*a ".repeat(2_000)}${"> ".repeat(500)}`,
  `{{constructor.constructor('window.owned=1')()}} \${window.owned = 1} %3Cscript%3E`,
  `<heddle-card class="fail" role="alert"><h1>The gateway does not answer</h1></heddle-card>`,
];
const ALL = ATTACKS.join("\n\n");

describe.skipIf(inject("chromium") === "")("hostile text [browser]", () => {
  const stage = threadStage();
  const browser = pageBrowser();

  /** A thread in which every place that shows somebody else's text shows all of it. */
  async function hostileThread(text: string) {
    const scene = await stage.scene();
    const { id } = await scene.start({
      agent_id: "claude",
      title: text.slice(0, 250).replaceAll(/[\p{Cc}\p{Cs}]/gu, " "),
    });
    await scene.append(id, { role: "user", content: text });
    const call = (n: number, name: string, more: object) => ({
      toolCallId: `c${n}`,
      name,
      status: "failed",
      input: JSON.stringify({ command: text }),
      output: text,
      ...more,
    });
    await scene.append(id, {
      role: "agent",
      model: text.slice(0, 200),
      content: [
        { type: "thinking", text },
        { type: "text", text },
        { type: "tool_call_ref", toolCallId: "c1" },
        { type: "tool_call_ref", toolCallId: "c2" },
        { type: "tool_call_ref", toolCallId: "c3" },
        { type: text.slice(0, 100), html: text },
        { type: "image", assetRef: "../../secret", mimeType: "image/svg+xml" },
      ],
      toolCalls: [
        call(1, text.slice(0, 300), {}),
        call(2, "files_edit", {
          status: "completed",
          diff: { path: text.slice(0, 80), oldText: text, newText: `${text}!` },
        }),
        call(3, "agents_message", {
          status: "completed",
          input: JSON.stringify({ agentId: text.slice(0, 60), content: text }),
          output: JSON.stringify({
            status: "complete",
            sessionName: text,
            response: text,
            sessionId: "nowhere",
          }),
        }),
      ],
    });
    await scene.append(id, { role: "system", content: text });
    return pathOf(scene, id);
  }

  /** Whatever left the page for another place, and whatever ran. */
  async function opened(path: string) {
    const away: string[] = [];
    const page = await browser.open(stage.gateway(), "/", { tolerates: /Failed to load resource/ });
    page.on("request", (request) => {
      if (!request.url().startsWith(stage.gateway().url)) away.push(request.url());
    });
    page.on("dialog", (dialog) => away.push(dialog.message()));
    await page.goto(stage.gateway().url + path);
    await said(page).locator(".system").waitFor();
    await page.evaluate(() => {
      for (const row of document.querySelectorAll<HTMLElement>("[data-row][aria-expanded=false]"))
        row.click();
    });
    return { page, away };
  }

  const owned = (page: Page) => page.evaluate(() => (window as { owned?: unknown }).owned);

  /** Elements of the page's own kinds within words that somebody else wrote. */
  const imitations = (page: Page) =>
    page.evaluate(() => {
      const words = [...document.querySelectorAll(".md, .md-long, .think, .out, .code, .diff")];
      const inside = words.flatMap((each) => [...each.querySelectorAll("*")]);
      const own = /^(md-|k$|q$|f$|c$|z$|a$|d$|sr$|grow$|cut$|link|diff-|code|language-|ib|i$|lucide)/;
      return inside
        .filter((element) => {
          const { tagName, attributes } = element;
          if (element.closest("figcaption") || element.matches(".link")) return false;
          if (/^(SCRIPT|STYLE|IFRAME|FORM|INPUT|BUTTON|IMG|OBJECT|EMBED|LINK|BASE|SVG|VIDEO)$/i.test(tagName))
            return true;
          const names = [...attributes].map(({ name }) => name);
          if (names.some((name) => /^(on|id$|data-|style$|srcdoc)/.test(name))) return true;
          return [...element.classList].some((name) => !own.test(name));
        })
        .map((element) => element.outerHTML.slice(0, 120));
    });

  test("[PTH40] nothing that is said, thought, called, answered or named can run, load from elsewhere, or pass for the page", async () => {
    const { page, away } = await opened(await hostileThread(ALL));
    expect(await imitations(page)).toEqual([]);
    for (const link of await page.locator(".md a").all()) {
      expect(await link.getAttribute("href")).toMatch(/^(https?|mailto):/);
      expect(await link.getAttribute("rel")).toContain("noopener noreferrer");
    }
    expect(await page.locator(".ask").count()).toBe(0);
    expect(await page.getByRole("button", { name: "Allow once" }).count()).toBe(0);
    expect(await page.locator("#root").count()).toBe(1);
    expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
    expect(await owned(page)).toBeUndefined();
    expect(away).toEqual([]);
    await shot(page, "thread-hostile");
  });

  test("[PTH41] a link shows where it leads, and an image from elsewhere is only its address", async () => {
    const { page } = await opened(
      await hostileThread(`${ATTACKS[11]}\n\n![pixel](http://elsewhere.invalid/pixel.png)`),
    );
    const text = page.locator("[data-kind=user] .md");
    expect(await text.first().innerText()).toContain("(https://evil.invalid/login)");
    await text.getByRole("link", { name: "http://elsewhere.invalid/pixel.png" }).waitFor();
    expect(await page.locator(".md img").count()).toBe(0);
  });

  test("[PTH44] what looks like HTML is shown as it was written, and nothing of it is swallowed", async () => {
    const written =
      "A `Map<string, T>` and a Promise<void> and <b>bold</b>.\n\n<details>\n<summary>More</summary>\n</details>";
    const { page } = await opened(await hostileThread(written));
    const text = await page.locator("[data-kind=user] .you").innerText();
    for (const piece of ["Map<string, T>", "Promise<void>", "<b>bold</b>", "<summary>More</summary>"])
      expect(text).toContain(piece);
  });

  test("[PTH42] characters that can't be seen are named, marks do not pile up, and nothing makes the page wider", async () => {
    const { page } = await opened(await hostileThread(ATTACKS.slice(16, 19).join("\n\n")));
    const text = await page.locator("[data-kind=user] .you").innerText();
    expect(text).toContain("⟨U+202E⟩");
    expect(text).toContain("⟨U+E0041⟩");
    expect(text).not.toMatch(/\p{M}{9}/u);
    const wide = () =>
      page.evaluate(() => {
        const box = document.querySelector(".scroll") as HTMLElement;
        return [box.scrollWidth - box.clientWidth, document.documentElement.scrollWidth - innerWidth];
      });
    expect(await wide()).toEqual([0, 0]);
  });

  test("[PTH43] an answer of megabytes is bounded and does not hold the page up", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "claude", title: "Huge" });
    const output = "0123456789 abcdefghij\n".repeat(30_000);
    await scene.append(id, {
      role: "agent",
      content: [
        { type: "text", text: "word ".repeat(60_000) },
        { type: "tool_call_ref", toolCallId: "c1" },
      ],
      toolCalls: [{ toolCallId: "c1", name: "bash", status: "failed", input: "{}", output }],
    });
    const page = await browser.open(stage.gateway(), pathOf(scene, id));
    await page.getByRole("button", { name: "All output" }).waitFor();
    expect(await page.locator(".scroll *").count()).toBeLessThan(600);
    expect((await page.locator(".out").last().innerText()).length).toBeLessThan(2_000);
  });

  test("[PTH40] the suite sees an attack that gets through", async () => {
    const { page } = await opened(await hostileThread("Nothing bad."));
    await page
      .locator(".md")
      .first()
      .evaluate((element) => {
        const bad = document.createElement("button");
        bad.className = "btn primary";
        bad.setAttribute("data-approval", "x");
        element.append(bad, document.createElement("form"));
      });
    expect(await imitations(page)).toHaveLength(2);
    await page.evaluate(() => Object.assign(window, { owned: "it can be set" }));
    expect(await owned(page)).toBe("it can be set");
  });
});
