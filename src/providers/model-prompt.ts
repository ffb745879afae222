import type { ModelCall, ModelPrompt } from "./model-api.js";
import { type PromptMessage, type PromptPart, type PromptToolCall, textOf } from "./prompt-message.js";
import type { GenerateRequest } from "./provider.js";

/** How an API wants a prompt. */
export interface Dialect {
  /** The key under which it finds what it wants back. */
  readonly api: string;
  /** There is one place for instructions: all of them go there, in order, with an empty line between them. */
  readonly oneSystem?: true;
  /** Arguments of calls are sent as the text they were, where the API takes text. */
  readonly argumentsAsText?: true;
  /** The results of tools are text only. */
  readonly textResults?: true;
  /** Whether a thought goes back to the server. Signatures of one API are worthless to another. */
  readonly returnsThinking: (data: Readonly<Record<string, unknown>> | undefined) => boolean;
}

/** The parts of a call that are the same for every API. */
export function modelCall(request: GenerateRequest, dialect: Dialect): ModelCall {
  const { tools = [], params = {} } = request;
  return {
    prompt: modelPrompt(request.messages, dialect),
    ...(params.max_tokens === undefined ? {} : { maxOutputTokens: params.max_tokens }),
    ...(params.temperature === undefined ? {} : { temperature: params.temperature }),
    ...(tools.length === 0 ? {} : { tools: tools.map(modelTool), toolChoice: { type: "auto" } }),
  };
}

function modelPrompt(messages: readonly PromptMessage[], dialect: Dialect): ModelPrompt {
  const names = new Map(
    messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id, name }) => [id, name] as const)),
  );
  const prompt = messages.flatMap((message) => modelMessage(message, dialect, names));
  if (!dialect.oneSystem) return prompt;
  const instructions = prompt.filter(({ role }) => role === "system").map(({ content }) => content as string);
  const rest = prompt.filter(({ role }) => role !== "system");
  if (instructions.length === 0) return rest;
  return [{ role: "system", content: instructions.join("\n\n") }, ...rest];
}

type ModelMessage = ModelPrompt[number];
type Content<Role extends ModelMessage["role"]> = Extract<ModelMessage, { role: Role }>["content"];

/** None of one that says nothing. */
export function modelMessage(
  message: PromptMessage,
  dialect: Dialect,
  names: ReadonlyMap<string, string>,
): ModelMessage[] {
  switch (message.role) {
    case "system":
    case "developer":
      return [{ role: "system", content: textOf(message) }];
    case "user":
      return [{ role: "user", content: userContent(message) }];
    case "tool":
      return [{ role: "tool", content: toolContent(message, dialect, names) }];
    case "assistant": {
      const content = assistantContent(message, dialect);
      return content.length === 0 ? [] : [{ role: "assistant", content }];
    }
  }
}

function userContent({ content }: PromptMessage): Content<"user"> {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.flatMap((part): Content<"user"> => {
    if (part.type === "image") return [{ type: "file", data: part.data, mediaType: part.mimeType }];
    return part.type === "text" && part.text !== "" ? [{ type: "text", text: part.text }] : [];
  });
}

function assistantContent(message: PromptMessage, dialect: Dialect): Content<"assistant"> {
  const { content, tool_calls = [] } = message;
  const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  const said = parts.flatMap((part): Content<"assistant"> => {
    if (part.type === "text") return part.text === "" ? [] : [{ type: "text", text: part.text }];
    if (part.type !== "thinking" || !dialect.returnsThinking(part.providerData?.[dialect.api])) return [];
    return [{ type: "reasoning", text: part.text, ...ownData(part.providerData, dialect) }];
  });
  return [...said, ...tool_calls.map((call) => modelToolCall(call, dialect))];
}

function modelToolCall(call: PromptToolCall, dialect: Dialect): Content<"assistant">[number] {
  return {
    type: "tool-call",
    toolCallId: call.id,
    toolName: call.name,
    input: callInput(call.arguments, dialect),
    ...ownData(call.providerData, dialect),
  };
}

/** Arguments that are no object can't be sent back as they are: servers refuse the whole conversation for them. */
function callInput(text: string, { argumentsAsText }: Dialect): unknown {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return argumentsAsText ? text : value;
  } catch {
    // The model is shown what it wrote.
  }
  return { invalid_arguments: text };
}

function toolContent(
  message: PromptMessage,
  dialect: Dialect,
  names: ReadonlyMap<string, string>,
): Content<"tool"> {
  const id = message.tool_call_id ?? "";
  return [
    {
      type: "tool-result",
      toolCallId: id,
      toolName: names.get(id) ?? message.name ?? "unknown",
      output: toolOutput(message, dialect),
    },
  ];
}

type ToolOutput = Extract<Content<"tool">[number], { type: "tool-result" }>["output"];

function toolOutput(message: PromptMessage, { textResults }: Dialect): ToolOutput {
  const { content } = message;
  if (typeof content === "string" || !content.some(({ type }) => type === "image"))
    return { type: "text", value: textOf(message) };
  if (textResults) {
    const images = content.flatMap((part) =>
      part.type === "image" ? [`[${part.mimeType}, not shown]`] : [],
    );
    return { type: "text", value: [textOf(message), ...images].filter((text) => text !== "").join("\n") };
  }
  return { type: "content", value: content.flatMap(resultPart) };
}

type ResultPart = Extract<ToolOutput, { type: "content" }>["value"][number];

function resultPart(part: PromptPart): ResultPart[] {
  if (part.type === "image") return [{ type: "image-data", data: part.data, mediaType: part.mimeType }];
  return part.type === "text" ? [{ type: "text", text: part.text }] : [];
}

function ownData(data: PromptToolCall["providerData"], { api }: Dialect) {
  const own = data?.[api];
  return own === undefined ? {} : { providerOptions: { [api]: own } };
}

type ModelTool = NonNullable<ModelCall["tools"]>[number];

export function modelTool({
  name,
  description,
  parameters,
}: NonNullable<GenerateRequest["tools"]>[number]): ModelTool {
  return { type: "function", name, description, inputSchema: parameters };
}
