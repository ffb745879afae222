import { useEffect } from "react";
import { BackToTree } from "../../shell/back-to-tree.js";
import { useRoute } from "../../state/router.js";
import { useTree } from "../../state/tree.js";
import { Link } from "../../ui/link.js";
import { AboutPart } from "./about-part.js";
import { AgentsPart } from "./agents-part.js";
import { HooksPart } from "./hooks-part.js";
import { LookPart } from "./look-part.js";
import { PromptsPart } from "./prompts-part.js";
import { SECTIONS } from "./sections.js";
import { ToolsPart } from "./tools-part.js";
import { TrustPart } from "./trust-part.js";
import { WorkspacePart } from "./workspace-part.js";
import "../agents/agents.css";
import "./settings.css";

/** Everything that can be set or looked up, on one page; each part has an address. */
export default function SettingsView() {
  const route = useRoute();
  const ws = useTree((tree) => tree.ws);
  const section = route.view === "settings" ? route.section : undefined;
  useSection(section, ws !== undefined);
  return (
    <main className="main">
      <header className="bar">
        <BackToTree />
        <h1 className="strong grow">Settings</h1>
      </header>
      <div className="set-scroll thin-scroll">
        <div className="set-cols">
          {ws && (
            <nav className="set-nav" aria-label="Settings">
              {SECTIONS.map(({ id, title }) => (
                <Link
                  key={id}
                  to={{ view: "settings", ws, section: id }}
                  replace
                  aria-current={section === id ? "true" : undefined}
                >
                  {title}
                </Link>
              ))}
            </nav>
          )}
          <div className="set-parts">
            <LookPart />
            <AgentsPart />
            {ws && <TrustPart ws={ws} />}
            {ws && <WorkspacePart ws={ws} />}
            {ws && <ToolsPart ws={ws} />}
            <HooksPart />
            {ws && <PromptsPart ws={ws} />}
            <AboutPart />
          </div>
        </div>
      </div>
    </main>
  );
}

/** Goes to the part that the address names. Parts that load later push it away, so it is gone to for a moment. */
function useSection(section: string | undefined, ready: boolean): void {
  useEffect(() => {
    const heading = section && ready ? document.getElementById(`set-${section}`) : null;
    if (!heading) return;
    heading.focus({ preventScroll: true });
    const go = () => heading.scrollIntoView({ block: "start" });
    go();
    const watch = new ResizeObserver(go);
    const parts = heading.closest(".set-parts");
    if (parts) watch.observe(parts);
    const stop = () => watch.disconnect();
    const timer = setTimeout(stop, 1_500);
    addEventListener("wheel", stop, { once: true, passive: true });
    addEventListener("pointerdown", stop, { once: true });
    addEventListener("keydown", stop, { once: true });
    return () => {
      stop();
      clearTimeout(timer);
      removeEventListener("wheel", stop);
      removeEventListener("pointerdown", stop);
      removeEventListener("keydown", stop);
    };
  }, [section, ready]);
}
