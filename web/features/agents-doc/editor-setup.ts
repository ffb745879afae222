import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { markdown, markdownKeymap } from "@codemirror/lang-markdown";
import { syntaxHighlighting } from "@codemirror/language";
import {
  Annotation,
  type ChangeSpec,
  type EditorState,
  type Extension,
  RangeSetBuilder,
} from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  ViewPlugin,
  type ViewUpdate,
} from "@codemirror/view";
import { styleTags, tagHighlighter, tags } from "@lezer/highlight";
import { diffIndices } from "node-diff3";
import { hangOf } from "./hang.js";

/** A change that came from elsewhere: nothing to save, nothing to undo. */
export const Elsewhere = Annotation.define<boolean>();

const marks = tagHighlighter([
  { tag: tags.heading, class: "hd" },
  { tag: tags.processingInstruction, class: "mk" },
  { tag: tags.contentSeparator, class: "mk" },
  { tag: tags.monospace, class: "cd" },
  { tag: tags.strong, class: "b" },
  { tag: tags.emphasis, class: "em" },
  { tag: tags.quote, class: "qt" },
  { tag: [tags.link, tags.url], class: "lk" },
]);

const language = markdown({
  completeHTMLTags: false,
  extensions: { props: [styleTags({ "InlineCode/CodeMark FencedCode/CodeMark": tags.monospace })] },
});

function hangs(view: EditorView): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  for (const { from, to } of view.visibleRanges) {
    for (let at = from; at <= to; ) {
      const line = view.state.doc.lineAt(at);
      const indent = hangOf(line.text);
      // A class and not a style: the page's policy knows no style attributes.
      if (indent > 0) builder.add(line.from, line.from, Decoration.line({ class: `hang-${indent}` }));
      at = line.to + 1;
    }
  }
  return builder.finish();
}

/** A list item that wraps goes on below its text, not below its mark. */
const hangingIndent = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = hangs(view);
    }
    update(update: ViewUpdate) {
      if (update.docChanged || update.viewportChanged) this.decorations = hangs(update.view);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

/**
 * Typing over a selection of several lines. Left to itself, the browser joins them with style attributes, which the page's
 * policy blocks and reports.
 */
const typedOver = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { main } = view.state.selection;
    if (event.inputType !== "insertText" || event.data === null || event.isComposing) return false;
    if (view.state.doc.lineAt(main.from).number === view.state.doc.lineAt(main.to).number) return false;
    view.dispatch(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
    event.preventDefault();
    return true;
  },
});

/** Characters that no store could give back are left out of what is pasted; `onLeftOut` hears how many. */
function cleanPaste(onLeftOut: (count: number) => void): Extension {
  return EditorView.clipboardInputFilter.of((text) => {
    const clean = text
      .replace(/^\uFEFF/, "")
      .replaceAll("\0", "")
      .toWellFormed();
    const left = text.replace(/^\uFEFF/, "").length - clean.length;
    if (left > 0) onLeftOut(left);
    return clean;
  });
}

export function setup(onLeftOut: (count: number) => void): Extension {
  const nonce = document.querySelector<HTMLMetaElement>("meta[name=heddle-nonce]")?.content ?? "";
  return [
    EditorView.cspNonce.of(nonce),
    lineNumbers(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    history(),
    EditorView.lineWrapping,
    language,
    syntaxHighlighting(marks),
    hangingIndent,
    typedOver,
    cleanPaste(onLeftOut),
    EditorView.contentAttributes.of({
      "data-pane-focus": "",
      tabindex: "0",
      autocapitalize: "sentences",
      spellcheck: "false",
    }),
    // Its own meaning of Ctrl-I is rarely wanted; here it is the pane beside the text.
    keymap.of([
      ...markdownKeymap,
      ...defaultKeymap.filter(({ key }) => key !== "Mod-i"),
      ...historyKeymap,
      indentWithTab,
    ]),
  ];
}

/** From what the editor has to another text, line by line: the cursor stays in its line where that is still there. */
export function changesTo(state: EditorState, text: string): ChangeSpec[] {
  const [before, after] = [state.doc.toString().split("\n"), text.split("\n")];
  const start = (line: number) => (line < state.doc.lines ? state.doc.line(line + 1).from : state.doc.length);
  return diffIndices(before, after).map(({ buffer1: [at, gone], buffer2Content: put }) => {
    const [from, to] = [start(at), start(at + gone)];
    const isLast = at + gone >= before.length;
    const insert = put.join("\n");
    if (!isLast) return { from, to, insert: put.length > 0 ? `${insert}\n` : "" };
    // The last line has no line end of its own: the one before it goes or comes instead.
    if (gone > 0 && put.length > 0) return { from, to, insert };
    return put.length > 0
      ? { from: to, to, insert: `\n${insert}` }
      : { from: Math.max(0, from - 1), to, insert: "" };
  });
}
