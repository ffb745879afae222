import { unixSeconds } from "../../base/index.js";
import { artifacts } from "../../store/index.js";
import type { ArtifactsDeps } from "./define.js";

const KEPT_SECONDS = 30 * 24 * 3600;

/** Removes for good what was deleted more than 30 days ago. */
export async function purgeArtifacts({
  store,
  clock,
}: Pick<ArtifactsDeps, "store" | "clock">): Promise<void> {
  const before = unixSeconds(clock) - KEPT_SECONDS;
  await store.write({ key: "artifacts" }, () => artifacts.purgeArtifacts(before));
}
