import { useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { openOverlay } from "../../shell/overlays.js";
import { call } from "../../state/gateway.js";
import { Button } from "../../ui/button.js";
import { count, counted } from "../../ui/format.js";
import type { Source } from "./use-import.js";
import "./import.css";

interface BringThreadsProps {
  readonly ws: string;
}

/** What somebody has from other tools, offered once; nothing where there is none. */
export function BringThreads({ ws }: BringThreadsProps) {
  const { data } = useQuery({
    queryKey: ["import_sources", ws],
    queryFn: async () => (await call("import/sources", { workspace_id: ws })).data,
    // What other tools do tells nobody: it is looked for with each visit.
    gcTime: 0,
  });
  const here = found(data ?? [], ({ threads, imported }) => threads - imported);
  const elsewhere = found(data ?? [], (source) => source.elsewhere);
  const [offered, where] = here.total > 0 ? [here, "for this project"] : [elsewhere, "of other projects"];
  if (offered.total === 0) return null;
  return (
    <section className="bring" aria-label="Bring your threads">
      <h3 className="label">Bring your threads</h3>
      <p className="small ink-3">
        Found {offered.words} {where}. They are copied, never changed.
      </p>
      <Button small icon={Download} onClick={() => openOverlay({ kind: "import" })}>
        {here.total > 0 ? `Import ${counted(here.total, "thread")}` : "Import sessions…"}
      </Button>
    </section>
  );
}

/** `41 Claude Code and 12 Codex sessions` */
function found(sources: readonly Source[], many: (source: Source) => number) {
  const some = sources.filter((source) => many(source) > 0);
  const total = some.reduce((sum, source) => sum + many(source), 0);
  const names = some.map((source) => `${count(many(source))} ${source.name}`);
  const list = new Intl.ListFormat("en", { type: "conjunction" }).format(names);
  return { total, words: `${list} ${total === 1 ? "session" : "sessions"}` };
}
