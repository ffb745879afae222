import { create } from "zustand";
import { Button } from "./button.js";
import { Dialog } from "./dialog.js";

interface Question {
  /** `Delete “Checkout copy”?` */
  readonly title: string;
  /** What changes: `Its 24 messages and 6 runs are removed from disk.` */
  readonly text: string;
  /** `Delete thread` */
  readonly yes: string;
  readonly no?: string;
}

const useQuestion = create<{ asked?: (Question & { answer(yes: boolean): void }) | undefined }>()(() => ({}));

/** Asks before something that can't be undone. */
export function confirm(question: Question): Promise<boolean> {
  return new Promise((resolve) => {
    const answer = (yes: boolean) => {
      useQuestion.setState({ asked: undefined });
      resolve(yes);
    };
    useQuestion.setState({ asked: { ...question, answer } });
  });
}

export function ConfirmHost() {
  const { asked } = useQuestion();
  if (!asked) return null;
  return (
    <Dialog label={asked.title} className="sheet" onClose={() => asked.answer(false)}>
      <h2 className="strong">{asked.title}</h2>
      <p className="ink-2">{asked.text}</p>
      <div className="btns end">
        <Button onClick={() => asked.answer(false)}>{asked.no ?? "Keep it"}</Button>
        <Button kind="primary" onClick={() => asked.answer(true)}>
          {asked.yes}
        </Button>
      </div>
    </Dialog>
  );
}
