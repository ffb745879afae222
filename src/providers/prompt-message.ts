import { z } from "zod";

/**
 * A message of a prompt, the same for all providers. Unknown keys are kept and not sent; an unknown kind of part is
 * refused, because leaving it out would change what the model is told.
 */
export type PromptMessage = z.infer<typeof promptMessageSchema>;
export type PromptPart = z.infer<typeof promptPartSchema>;
export type PromptToolCall = z.infer<typeof promptToolCallSchema>;

/** What a provider wants back word for word, by the API it came from: signatures, encrypted thoughts. */
export type ProviderData = z.infer<typeof providerDataSchema>;

const providerDataSchema = z.record(z.string(), z.record(z.string(), z.json()));

const textPartSchema = z.looseObject({ type: z.literal("text"), text: z.string() });

const imagePartSchema = z.looseObject({
  type: z.literal("image"),
  data: z.string().min(1).refine(isBase64, "must be base64"),
  mimeType: z
    .string()
    .regex(/^image\/[a-z0-9][a-z0-9.+-]*$/, "must be the type of an image, such as image/png"),
});

const thinkingPartSchema = z.looseObject({
  type: z.literal("thinking"),
  text: z.string(),
  providerData: providerDataSchema.optional(),
});

export const promptPartSchema = z.discriminatedUnion("type", [
  textPartSchema,
  imagePartSchema,
  thinkingPartSchema,
]);

export const promptToolCallSchema = z.looseObject({
  id: z.string().min(1),
  name: z.string().min(1),
  /** The model's own text, whether or not it is JSON. */
  arguments: z.string(),
  providerData: providerDataSchema.optional(),
});

const promptRoles = ["system", "developer", "user", "assistant", "tool"] as const;

export const promptMessageSchema = z
  .looseObject({
    role: z.enum(promptRoles),
    content: z.union([z.string(), z.array(promptPartSchema)]),
    name: z.string().min(1).optional(),
    tool_call_id: z.string().min(1).optional(),
    tool_calls: z.array(promptToolCallSchema).optional(),
  })
  .superRefine((message, context) => {
    const refuse = (path: (string | number)[], problem: string) =>
      context.addIssue({ code: "custom", path, message: problem });
    const { role, content } = message;
    if (role === "tool" && message.tool_call_id === undefined)
      refuse(["tool_call_id"], "a tool's message names the call it answers");
    if (role !== "tool" && message.tool_call_id !== undefined)
      refuse(["tool_call_id"], "only a tool's message answers a call");
    if (role !== "assistant" && message.tool_calls !== undefined)
      refuse(["tool_calls"], "only the assistant calls tools");
    if (typeof content === "string") return;
    for (const [index, { type }] of content.entries()) {
      if (type === "image" && role !== "user" && role !== "tool")
        refuse(["content", index], "images are for the messages of users and tools");
      if (type === "thinking" && role !== "assistant")
        refuse(["content", index], "thinking belongs to the assistant");
    }
  });

/** What a blob of prompt text may hold: one message, or several. */
export const promptMessagesSchema = z.union([promptMessageSchema, z.array(promptMessageSchema).min(1)]);

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && Buffer.from(text, "base64").toString("base64") === text;
}

/** All text of a message, without images and thinking. */
export function textOf({ content }: Pick<PromptMessage, "content">): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** What a program takes for instructions; everything else was said. */
export function isOfSystem({ role }: Pick<PromptMessage, "role">): boolean {
  return role === "system" || role === "developer";
}
