/** The messages of an answer: one, several, or a stream of them. */
export async function* answersOf(response: Response): AsyncGenerator<unknown> {
  const type = response.headers.get("content-type") ?? "";
  if (type.includes("text/event-stream")) yield* eventsOf(response);
  else {
    const text = await response.text();
    if (text.trim() === "") return;
    const value: unknown = JSON.parse(text);
    yield* Array.isArray(value) ? value : [value];
  }
}

async function* eventsOf({ body }: Response): AsyncGenerator<unknown> {
  if (body === null) return;
  const utf8 = new TextDecoder();
  let left = "";
  for await (const chunk of body) {
    left += utf8.decode(chunk, { stream: true });
    const events = left.split(/\r?\n\r?\n/);
    left = events.pop() ?? "";
    for (const event of events) {
      const data = dataOf(event);
      if (data !== "") yield JSON.parse(data);
    }
  }
}

function dataOf(event: string): string {
  return event
    .split(/\r?\n/)
    .flatMap((line) => (line.startsWith("data:") ? [line.slice(5).replace(/^ /, "")] : []))
    .join("\n");
}

/** Why a gateway did not even begin to answer, in words. */
export async function refusalOf(response: Response): Promise<string> {
  if (response.status === 401) {
    return "The gateway does not accept the token. One that a thread was given is valid only while its agent is at work.";
  }
  const text = await response.text().catch(() => "");
  try {
    const { error } = JSON.parse(text) as { error?: string | { message?: string } };
    const message = typeof error === "string" ? error : error?.message;
    if (message !== undefined) return message;
  } catch {
    // It is no gateway of ours that answers.
  }
  return `The gateway answered ${response.status} ${response.statusText}.`;
}
