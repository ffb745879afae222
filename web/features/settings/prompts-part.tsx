import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Result } from "../../../src/protocol/index.js";
import { call } from "../../state/gateway.js";
import { queries } from "../../state/queries.js";
import { toast, toastProblem } from "../../state/toasts.js";
import { Button } from "../../ui/button.js";
import { when } from "../../ui/format.js";
import { Part, Unread } from "./part.js";

type Listed = Result<"prompt/packs">["data"][number];
type State = Result<"prompt/status">["data"][number];

/** Base prompts that a project keeps in its files: read them, then let threads use what was read. */
export function PromptsPart({ ws }: { readonly ws: string }) {
  const packs = useQuery({
    queryKey: ["prompts", ws, "packs"],
    queryFn: () => call("prompt/packs", { workspace_id: ws }),
    staleTime: 1_000,
  });
  const status = useQuery({
    queryKey: ["prompts", ws, "status"],
    queryFn: () => call("prompt/status", { workspace_id: ws }),
  });
  const rows = merged(packs.data?.data ?? [], status.data?.data ?? []);
  return (
    <Part
      id="prompts"
      title="Prompt packs"
      about="Base prompts in this project’s files. What is read waits until it is applied; a run under way keeps what it began with."
    >
      {status.isError && !status.data && (
        <Unread what="the prompt packs" onRetry={() => void status.refetch()} />
      )}
      {packs.isFetched && status.isFetched && rows.length === 0 && (
        <p className="ink-3">
          This project has no prompt packs. They stand in a directory named prompt_packs.
        </p>
      )}
      <ul className="set-list">
        {rows.map((row) => (
          <PackRow key={row.name} ws={ws} {...row} />
        ))}
      </ul>
    </Part>
  );
}

interface Row {
  readonly name: string;
  readonly listed: Listed | undefined;
  readonly state: State | undefined;
}

/** A pack that was applied and is gone from the files is still in effect. */
function merged(listed: readonly Listed[], states: readonly State[]): readonly Row[] {
  const names = new Set([...listed.map(({ name }) => name), ...states.map(({ pack }) => pack)]);
  return [...names].map((name) => ({
    name,
    listed: listed.find((each) => each.name === name),
    state: states.find(({ pack }) => pack === name),
  }));
}

function PackRow({ ws, name, listed, state }: Row & { readonly ws: string }) {
  const [busy, setBusy] = useState(false);
  const act = async (does: () => Promise<unknown>) => {
    setBusy(true);
    await does().catch(toastProblem);
    await queries.invalidateQueries({ queryKey: ["prompts"] });
    setBusy(false);
  };
  const sync = async () => {
    const { status, error } = await call("prompt/sync", { workspace_id: ws, pack: name });
    if (status === "unchanged") toast(`${name} is the same as before.`);
    if (error) throw new Error(error.reason);
  };
  const apply = () => call("prompt/apply", { workspace_id: ws, pack: name });
  const problem = listed?.error ?? state?.error?.reason;
  return (
    <li className="set-line">
      <div className="grow">
        <div className="label">
          {name} {listed?.default && <span className="small ink-3">default</span>}
        </div>
        <div className="small ink-3">{standing(listed, state)}</div>
        {problem && <div className="small danger">{problem}</div>}
      </div>
      <Button small disabled={busy} aria-label={`Read ${name}`} onClick={() => void act(sync)}>
        Read
      </Button>
      <Button
        small
        aria-label={`Apply ${name}`}
        off={state?.pending ? undefined : "Nothing was read that waits."}
        onClick={() => void act(apply)}
      >
        Apply
      </Button>
    </li>
  );
}

function standing(listed: Listed | undefined, state: State | undefined): string {
  const facts = [
    listed?.path ?? "not in the files any more",
    state?.active ? `in effect since ${when(state.active.taken_at)}` : "not in effect",
    state?.pending && `read ${when(state.pending.taken_at)}, waits to be applied`,
  ];
  return facts.filter(Boolean).join(", ");
}
