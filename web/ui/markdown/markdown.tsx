import { memo, useMemo } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import rehypeSanitize from "rehype-sanitize";
import remarkGfm from "remark-gfm";
import remend from "remend";
import { count } from "../format.js";
import { useShowsAll } from "../sought.js";
import { blocksOf } from "./blocks.js";
import { CodeBlock } from "./code-block.js";
import { htmlAsText } from "./html-as-text.js";
import { OutsideLink, RemoteImage } from "./outside-link.js";
import { schema } from "./schema.js";
import { visible } from "./visible.js";
import "./markdown.css";

interface MarkdownProps {
  readonly text: string;
  /** More of it is coming: the last block may be half of one. */
  readonly streaming?: boolean;
}

/** Past these, parsing would hold the page up: the rest comes when it is asked for. */
const SHOWN_BLOCKS = 160;
const SHOWN_CHARS = 60_000;
const BLOCK_CHARS = 12_000;

/** Text of an agent or a person. Nothing in it can run, load from elsewhere, or pass for a part of the page. */
export const Markdown = memo(function Markdown({ text, streaming = false }: MarkdownProps) {
  const blocks = useMemo(() => blocksOf(visible(text)), [text]);
  const [all, setAll] = useShowsAll(() => hiddenOf(blocks));
  const shown = all ? blocks.length : howMany(blocks);
  return (
    <>
      {blocks.slice(0, shown).map((block, at) => {
        const last = at === blocks.length - 1;
        const whole = streaming && last && !block.open ? finished(block.text) : block.text;
        // biome-ignore lint/suspicious/noArrayIndexKey: text only grows at its end, so a block's place is its name
        return <BlockOf key={at} text={whole} open={streaming && last && block.open} />;
      })}
      {shown < blocks.length && (
        <p>
          <button type="button" className="link" onClick={() => setAll(true)}>
            Show all {count(text.length)} characters
          </button>
        </p>
      )}
    </>
  );
});

function hiddenOf(blocks: readonly { readonly text: string }[]): string {
  const hidden = blocks.slice(howMany(blocks));
  return hidden.map(({ text }) => text).join("\n");
}

function howMany(blocks: readonly { readonly text: string }[]): number {
  let chars = 0;
  const end = blocks.findIndex(({ text }, at) => {
    chars += text.length;
    return at >= SHOWN_BLOCKS || (at > 0 && chars > SHOWN_CHARS);
  });
  return end < 0 ? blocks.length : end;
}

/** Marks that are open yet, as they will most likely be closed. Links are left alone: half an address leads nowhere. */
function finished(text: string): string {
  return remend(text, { links: true, linkMode: "text-only", images: false });
}

const PLUGINS = [remarkGfm, htmlAsText];
const REHYPE: [typeof rehypeSanitize, typeof schema][] = [[rehypeSanitize, schema]];

const BlockOf = memo(function BlockOf({ text, open }: { readonly text: string; readonly open: boolean }) {
  if (text.length > BLOCK_CHARS) return <LongBlock text={text} open={open} />;
  return (
    <div className="md">
      <ReactMarkdown
        remarkPlugins={PLUGINS}
        rehypePlugins={REHYPE}
        components={open ? OPEN_COMPONENTS : COMPONENTS}
        urlTransform={(url) => url}
      >
        {text}
      </ReactMarkdown>
    </div>
  );
});

/** One that no one could have meant as prose: code as code, anything else as it stands. */
function LongBlock({ text, open }: { readonly text: string; readonly open: boolean }) {
  const fence = /^ {0,3}(?:`{3,}|~{3,})\s*([\w+#.-]*)[^\n]*\n/.exec(text);
  if (!fence) return <p className="md-long">{text}</p>;
  const code = text.slice(fence[0].length).replace(/\n? {0,3}[`~]{3,}\s*$/, "");
  return <CodeBlock code={code} language={fence[1] ?? ""} open={open} />;
}

const COMPONENTS: Components = {
  a: ({ href, children }) => <OutsideLink href={href}>{children}</OutsideLink>,
  img: ({ src, alt }) => <RemoteImage src={typeof src === "string" ? src : undefined} alt={alt} />,
  // A control in a text would look like one of the page's.
  input: ({ checked }) => <span className="md-check">{checked ? "☑" : "☐"}</span>,
  table: ({ children }) => (
    <div className="md-table" role="region" aria-label="Table" tabIndex={0}>
      <table>{children}</table>
    </div>
  ),
  h1: ({ children }) => <h3 className="md-h1">{children}</h3>,
  h2: ({ children }) => <h3 className="md-h1">{children}</h3>,
  h3: ({ children }) => <h4 className="md-h3">{children}</h4>,
  h4: ({ children }) => <h5 className="md-h3">{children}</h5>,
  h5: ({ children }) => <h6 className="md-h3">{children}</h6>,
  h6: ({ children }) => <h6 className="md-h3">{children}</h6>,
  pre: ({ node }) => <Fence node={node} open={false} />,
};
const OPEN_COMPONENTS: Components = { ...COMPONENTS, pre: ({ node }) => <Fence node={node} open /> };

interface CodeNode {
  readonly children: readonly unknown[];
}

function Fence({ node, open }: { readonly node: unknown; readonly open: boolean }) {
  const [code] = (node as CodeNode | undefined)?.children ?? [];
  const { children = [], properties = {} } = (code ?? {}) as {
    children?: readonly { value?: string }[];
    properties?: { className?: readonly string[] };
  };
  const text = children.map(({ value = "" }) => value).join("");
  const language = properties.className?.[0]?.replace(/^language-/, "") ?? "";
  return <CodeBlock code={text.replace(/\n$/, "")} language={language} open={open} />;
}
