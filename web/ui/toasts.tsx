import { X } from "lucide-react";
import { dismiss, type Toast, useToasts } from "../state/toasts.js";
import { IconButton } from "./button.js";

/** Floats over main and pushes nothing. */
export function Toasts() {
  const { list } = useToasts();
  return (
    <div className="toasts" aria-live="polite">
      {list.map((each) => (
        <ToastRow key={each.id} toast={each} />
      ))}
    </div>
  );
}

function ToastRow({ toast }: { readonly toast: Toast }) {
  const { id, text, code, action, alert } = toast;
  return (
    <div className="toast" role={alert ? "alert" : undefined}>
      <span>
        {text} {code && <code>{code}</code>}
      </span>
      {action && (
        <button
          type="button"
          className="btn sm toast-do"
          onClick={() => {
            dismiss(id);
            action.run();
          }}
        >
          {action.label}
        </button>
      )}
      <IconButton icon={X} label="Dismiss" small onClick={() => dismiss(id)} />
    </div>
  );
}
