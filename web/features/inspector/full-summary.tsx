import { CircleAlert, Shield, ShieldCheck } from "lucide-react";
import type { CSSProperties } from "react";
import type { Run } from "../../../src/protocol/index.js";
import { count, counted } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import type { Comparison } from "./compare.js";
import { type Proof, useProof } from "./replay-box.js";
import { Stack } from "./stack.js";
import { hasFigures, TokenChart, usageWords } from "./token-chart.js";
import { rowsOf, type Told } from "./told.js";

interface SummaryProps {
  readonly told: Told;
  readonly used: number | undefined;
  readonly run: Run | undefined;
  readonly runs: readonly Run[];
  readonly against: { readonly run: Run; readonly comparison: Comparison } | undefined;
  choose(run: Run): void;
}

/** The totals: what was sent, how it differs, what a cache can keep, and whether it is proven. */
export function Summary({ told, used, run, runs, against, choose }: SummaryProps) {
  const { manifest } = told;
  const exact = manifest.delivery ? undefined : used;
  return (
    <dl className="sum">
      <div className="sum-whole">
        <dt>{run ? (manifest.delivery ? "Told" : "Sent") : "Would be sent"}</dt>
        <dd>
          {exact === undefined && <small>about</small>}
          {count(exact ?? manifest.window.tokens_estimate)} <small>tokens</small>
        </dd>
      </div>
      {against && <Against {...against} />}
      {run && (
        <div>
          <dt>Replay</dt>
          <ProofWords run={run} />
        </div>
      )}
      {hasFigures(runs) && (
        <div className="sum-chart" title={usageWords(runs)}>
          <dt>
            <span>Tokens per run</span>
          </dt>
          <dd>
            <TokenChart runs={runs} shown={run} small choose={choose} />
          </dd>
        </div>
      )}
    </dl>
  );
}

function Against({ run, comparison }: { readonly run: Run; readonly comparison: Comparison }) {
  const { delta, differing, prefix } = comparison;
  const restarts = prefix.restartsAt ? `; the cache restarts at ${prefix.restartsAt}` : "";
  return (
    <>
      <div className="sum-whole">
        <dt>Against run {run.number}</dt>
        <dd className="accent">
          {signed(delta)} <small>{counted(differing.length, "section")} changed</small>
        </dd>
      </div>
      <div>
        <dt>Unchanged prefix</dt>
        <dd>
          {count(prefix.same)}{" "}
          <small title={restarts.slice(2)}>
            of {count(prefix.of)}
            {restarts}
          </small>
        </dd>
      </div>
    </>
  );
}

/** `+730`, `−12`, `0` */
export function signed(delta: number): string {
  if (delta === 0) return "0";
  return `${delta > 0 ? "+" : "−"}${count(Math.abs(delta))}`;
}

const PROOFS = {
  recorded: [Shield, "", "Recorded", "checked when the run ends"],
  checking: [Shield, "", "Recorded", "being checked"],
  verified: [ShieldCheck, "ok", "Verified", ""],
  differs: [CircleAlert, "danger", "Differs", ""],
  failed: [CircleAlert, "danger", "Not checked", ""],
} as const;

function ProofWords({ run }: { readonly run: Run }) {
  const proof = useProof(run);
  const [glyph, tone, word, more] = PROOFS[proof.state];
  return (
    <dd className={`proof-dd ${tone}`}>
      <Icon of={glyph} />
      {word} <small title={proof.result?.first_difference?.message ?? more}>{more || detailOf(proof)}</small>
    </dd>
  );
}

function detailOf({ state, result, where }: Proof): string {
  if (state === "verified") return `${counted(result?.events ?? 0, "event")}, same bytes`;
  return state === "differs" ? `at ${where}` : "";
}

interface BarsProps {
  readonly told: Told;
  readonly name: string;
  readonly before: { readonly told: Told; readonly name: string } | undefined;
}

/** This and the compared one, on one scale. */
export function Bars({ told, name, before }: BarsProps) {
  const size = ({ manifest }: Told) => manifest.window.tokens_estimate;
  const most = Math.max(1, size(told), before ? size(before.told) : 0);
  const width = (of: Told) => ({ width: `${(100 * size(of)) / most}%` }) as CSSProperties;
  return (
    <div className="bars">
      <span className="num">{name}</span>
      <div style={width(told)}>
        <Stack rows={rowsOf(told.manifest)} label={`Shares of ${name}`} />
      </div>
      {before && (
        <>
          <span className="num">{before.name}</span>
          <div style={width(before.told)}>
            <Stack rows={rowsOf(before.told.manifest)} label={`Shares of ${before.name}`} faint />
          </div>
        </>
      )}
    </div>
  );
}
