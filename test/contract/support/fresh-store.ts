import { afterAll, beforeAll } from "vitest";
import type { Unit } from "../../../src/store/index.js";
import { onEachStore } from "../../support/stores.js";
import { openStage, type Stage } from "./stage.js";

let current: Stage;

/** The store of the suite that runs. */
export const stage = (): Stage => current;

export const read = <T>(unit: () => Unit<T>): Promise<T> => current.store.read(unit);

export const write = <T>(unit: () => Unit<T>): Promise<T> => current.store.write({ key: "any" }, unit);

/** Runs a suite on both stores, each opened anew for it. */
export function onFreshStore(name: string, suite: () => void): void {
  onEachStore(name, (kind) => {
    beforeAll(async () => {
      current = await openStage(kind);
    });
    afterAll(() => current?.end());
    suite();
  });
}
