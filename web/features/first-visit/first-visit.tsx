import { ArrowUp, Check } from "lucide-react";
import { type KeyboardEvent, useState } from "react";
import { BackToTree } from "../../shell/back-to-tree.js";
import { clearDraft, setDraft, useDraft } from "../../state/drafts.js";
import { toastProblem } from "../../state/toasts.js";
import { useTree } from "../../state/tree.js";
import { Button } from "../../ui/button.js";
import { isComposing } from "../../ui/composing.js";
import { Icon } from "../../ui/icon.js";
import { Link } from "../../ui/link.js";
import { useConfigFile } from "../agents/config-file.js";
import { LookAgain } from "../agents/look-again.js";
import { MachineList } from "../agents/machine.js";
import { BringThreads } from "../import/bring-threads.js";
import { useObserve } from "./observe.js";
import { type Step, sendFirst, useGuide, useSteps } from "./steps.js";
import "./first-visit.css";

/** A workspace nobody has worked in yet: what works already, three things to try, and what this machine has. */
export default function FirstVisit() {
  const ws = useTree((tree) => tree.ws);
  const guide = useGuide();
  useObserve(ws);
  return (
    <main className="main">
      <header className="bar">
        <BackToTree />
        <span className="label grow">Welcome</span>
      </header>
      <div className="first-cols">
        <div className="first-scroll thin-scroll">
          <div className="first-col">
            <h1 className="hero">This works already.</h1>
            <p className="ink-2 first-lead">
              {guide?.provider === "demo"
                ? "The Demo agent is built in and needs no key. It answers, calls tools, asks before it runs a command and hands work on, so you can see how Heddle behaves before you connect anything."
                : `${guide?.display_name ?? "No agent"} is ready to be asked. Try how Heddle behaves before you begin.`}
            </p>
            <ol className="try" aria-label="Three things to try">
              {useSteps().map((step, at) => (
                <TryRow key={step.id} step={step} number={at + 1} />
              ))}
            </ol>
          </div>
        </div>
        {ws && <FirstField ws={ws} />}
        <OnThisMachine />
      </div>
    </main>
  );
}

function TryRow({ step, number }: { readonly step: Step; readonly number: number }) {
  return (
    <li className={step.done ? "done" : undefined}>
      <span className="o">{step.done ? <Icon of={Check} label="Done" /> : number}</span>
      <div>
        <b className="label">{step.title}</b>
        <p>{step.text}</p>
      </div>
      <Button off={step.off} onClick={step.run}>
        {step.action}
      </Button>
    </li>
  );
}

/** The first message of one's own: it makes its thread. What is refused stays in the field. */
function FirstField({ ws }: { readonly ws: string }) {
  const guide = useGuide();
  // As every other draft: it outlives this view, which goes with the first thread.
  const draft = `first-${ws}`;
  const { text } = useDraft(draft);
  const [busy, setBusy] = useState(false);
  const name = guide?.display_name ?? "an agent";
  const send = async () => {
    if (text.trim() === "" || busy) return;
    setBusy(true);
    await sendFirst(ws, text, guide).then(() => clearDraft(draft), toastProblem);
    setBusy(false);
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || isComposing(event)) return;
    event.preventDefault();
    void send();
  };
  return (
    <div className="first-dock">
      <div className="first-field">
        <textarea
          rows={1}
          aria-label={`Message ${name}`}
          placeholder={`Message ${name}`}
          value={text}
          onChange={(event) => setDraft(draft, { text: event.target.value })}
          onKeyDown={keys}
        />
        {guide?.provider === "demo" && (
          <span className="small ink-3 only-wide">Nothing leaves this machine</span>
        )}
        <button
          type="button"
          className="first-send"
          aria-label="Send"
          disabled={text.trim() === "" || busy}
          onClick={() => void send()}
        >
          <Icon of={ArrowUp} />
        </button>
      </div>
    </div>
  );
}

function OnThisMachine() {
  const ws = useTree((tree) => tree.ws);
  const { file } = useConfigFile();
  return (
    <aside className="first-aside thin-scroll" aria-label="Agents on this machine">
      <div className="row-x first-head">
        <h2 className="label grow">On this machine</h2>
        <LookAgain />
      </div>
      <MachineList />
      <p className="small ink-3">
        Agents are described in <code title={file}>heddle.config.json</code>.{" "}
        {ws && <Link to={{ view: "settings", ws, section: "agents" }}>Write one</Link>}
      </p>
      {ws && <BringThreads ws={ws} />}
    </aside>
  );
}
