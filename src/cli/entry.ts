#!/usr/bin/env node
import { partsIn } from "./parts.js";

/** The build fills it in: the name has the hash of what is in it. */
declare const FIRST_PART: string;

const parts = partsIn(import.meta.dirname);
process.on("exit", () => parts.keep());
parts.load(FIRST_PART);
