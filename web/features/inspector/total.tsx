import { count } from "../../ui/format.js";
import type { Told } from "./told.js";

/** What the provider counted, where it did; an estimate says so. */
export function Total({ told, used }: { readonly told: Told; readonly used: number | undefined }) {
  const { manifest, run_id } = told;
  const about = manifest.window.tokens_estimate;
  // A program's figures count its own calls of the model, not what it was handed.
  const counted = manifest.delivery ? undefined : used;
  const what = run_id === undefined ? "tokens" : manifest.delivery ? "tokens told" : "tokens sent";
  return (
    <div className="total">
      {counted === undefined && <span className="ink-3">about</span>}
      <b>{count(counted ?? about)}</b>
      <span className="ink-3">{what}</span>
      <span className="grow" />
      {counted !== undefined && counted !== about && (
        <span className="small ink-3 num">estimated about {count(about)}</span>
      )}
      {manifest.delivery && used !== undefined && (
        <span className="small ink-3 num">{count(used)} used by it</span>
      )}
    </div>
  );
}
