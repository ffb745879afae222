import { z } from "zod";
import { answerStepSchema, turnSchema } from "../../../src/providers/index.js";

/** What a server can do besides answering well. */
const serverStepSchema = z.union([
  answerStepSchema,
  /** Answers with this status instead of a stream. */
  z.strictObject({
    status: z.number(),
    headers: z.record(z.string(), z.string()).optional(),
    body: z.unknown().optional(),
  }),
  /** Other headers for the stream than the usual ones. */
  z.strictObject({ headers: z.record(z.string(), z.string()) }),
  /** Destroys the socket. */
  z.strictObject({ cut: z.literal(true) }),
  /** Ends the body as if all were well, though the protocol's end is missing. */
  z.strictObject({ end: z.literal(true) }),
  /** An event of this data, whatever it is. */
  z.strictObject({
    event: z.union([z.string(), z.record(z.string(), z.unknown())]),
    name: z.string().optional(),
  }),
  /** Bytes as they stand. */
  z.strictObject({ raw: z.string() }),
  /** Bytes one by one. */
  z.strictObject({ drip: z.string(), every_ms: z.number() }),
  /** An error in the middle of the stream, in the protocol's own form. */
  z.strictObject({ error: z.strictObject({ type: z.string(), message: z.string() }) }),
  /** Goes on when the test opens the gate of this name. */
  z.strictObject({ gate: z.string() }),
  /** Says nothing more as long as this file is there. */
  z.strictObject({ while_there: z.string() }),
  /** The protocol's end once more. */
  z.strictObject({ again: z.literal("end") }),
]);

export const serverTurnSchema = turnSchema(serverStepSchema).extend({
  /** How the stream is written. */
  style: z
    .strictObject({
      line_end: z.string().optional(),
      bom: z.boolean().optional(),
      /** The stream goes out in pieces of this many bytes. */
      piece_bytes: z.number().optional(),
      /** Without a length or chunks: the end of the connection is the end of the body. */
      until_close: z.boolean().optional(),
    })
    .optional(),
});

export type ServerStep = z.infer<typeof serverStepSchema>;
export type ServerTurn = z.infer<typeof serverTurnSchema>;
