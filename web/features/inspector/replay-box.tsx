import { CircleAlert, RefreshCw, Shield, ShieldCheck } from "lucide-react";
import { useState } from "react";
import type { ReplayResult, Run } from "../../../src/protocol/index.js";
import { problemOf } from "../../state/errors.js";
import { isUnderWay } from "../../state/runs.js";
import { IconButton } from "../../ui/button.js";
import { count, counted } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import { useJournal, useReplay, useWhenIdle } from "./data.js";
import { PatchView } from "./patch-view.js";

export interface Proof {
  readonly state: "recorded" | "checking" | "verified" | "differs" | "failed";
  readonly result?: ReplayResult | undefined;
  readonly error?: unknown;
  /** Where it differs, in words. */
  readonly where?: string | undefined;
  again(): void;
}

/** Proves the run that is shown, once the window is idle. */
export function useProof(run: Run): Proof {
  const [idle, setIdle] = useState(false);
  const ended = !isUnderWay(run);
  useWhenIdle(ended ? run.id : undefined, setIdle);
  const { data, error, isFetching, refetch } = useReplay(run, idle);
  const again = () => void refetch();
  const { data: journal } = useJournal(run, run.steps);
  if (!ended) return { state: "recorded", again };
  if (isFetching || (!data && !error)) return { state: "checking", result: data, again };
  if (error) return { state: "failed", error, again };
  if (data?.verified) return { state: "verified", result: data, again };
  return { state: "differs", result: data, where: whereOf(data, journal?.first), again };
}

/** `Recorded to the byte`, `Replay verified`, or where it differs, with the first difference. */
export function ReplayBox({ run }: { readonly run: Run }) {
  const proof = useProof(run);
  const { state, result } = proof;
  const difference = state === "differs" ? result?.first_difference : undefined;
  return (
    <div className="replay">
      <div className={`verified ${TONE[state]}`} role="status">
        <Icon of={GLYPH[state]} />
        <div className="grow">
          <b>{titleOf(proof)}</b> <span>{wordsOf(proof)}</span>
        </div>
        {state !== "recorded" && (
          <IconButton
            icon={RefreshCw}
            label="Check the replay again"
            small
            size={12}
            busy={state === "checking"}
            onClick={proof.again}
          />
        )}
      </div>
      {difference?.diff && (
        <div className="well">
          <div className="well-h">
            First difference, <code>{difference.where}</code>
          </div>
          <PatchView patch={difference.diff} />
        </div>
      )}
    </div>
  );
}

const TONE = { recorded: "still", checking: "still", verified: "", differs: "bad", failed: "bad" };
const GLYPH = {
  recorded: Shield,
  checking: Shield,
  verified: ShieldCheck,
  differs: CircleAlert,
  failed: CircleAlert,
};

function titleOf({ state, result, where }: Proof): string {
  if (state === "recorded" || state === "checking") return "Recorded to the byte.";
  if (state === "verified") return "Replay verified.";
  if (state === "failed") return "Replay could not be checked.";
  if (result?.compile === "other_version" && result.integrity === "ok") return "Recorded by another version.";
  return `Differs at ${where}.`;
}

/** `event 23 of 40`, counted within the run; steps and blobs have no number among the events. */
function whereOf(result: ReplayResult | undefined, first: number | undefined): string {
  const where = result?.first_difference?.where ?? "its record";
  const blob = /^blob (sha256:[0-9a-f]{12})/.exec(where)?.[1];
  if (blob) return `blob ${blob}…`;
  const seq = Number(/^event (\d+)$/.exec(where)?.[1] ?? Number.NaN);
  if (Number.isNaN(seq) || first === undefined) return where;
  return seq < first
    ? `${where}, before the run`
    : `event ${count(seq - first + 1)} of ${count(result?.events ?? 0)}`;
}

function wordsOf({ state, result, error }: Proof): string {
  if (state === "recorded") return "Replay is checked when the run ends.";
  if (state === "checking") return "Replay is being checked.";
  if (state === "failed") return problemOf(error).message;
  if (state === "differs") return result?.first_difference?.message ?? "";
  return `${counted(result?.events ?? 0, "event")}, ${counted(result?.steps ?? 0, "step")}, same bytes.`;
}
