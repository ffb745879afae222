interface Node {
  type: string;
  value?: string;
  children?: Node[];
}

/** HTML in a text is text: it is shown as it was written, not obeyed and not swallowed. */
export function htmlAsText() {
  return (tree: unknown) => asText(tree as Node, false);
}

/** `inWords`: among words; elsewhere it stands alone, as a paragraph. */
function asText(node: Node, inWords: boolean): void {
  if (!node.children) return;
  node.children = node.children.map((child) => {
    if (child.type !== "html") return child;
    const words = { type: "text", value: child.value ?? "" };
    return inWords ? words : { type: "paragraph", children: [words] };
  });
  for (const child of node.children) asText(child, WORDS.has(child.type));
}

const WORDS = new Set([
  "paragraph",
  "heading",
  "emphasis",
  "strong",
  "delete",
  "link",
  "linkReference",
  "tableCell",
]);
