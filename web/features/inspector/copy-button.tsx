import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { toast } from "../../state/toasts.js";
import { IconButton } from "../../ui/button.js";

/** Copies a text to the byte. */
export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), 2_000);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setDone(true),
      () => toast("Not copied: the browser does not allow it."),
    );
  return (
    <IconButton
      icon={done ? Check : Copy}
      label={done ? "Copied" : label}
      small
      onClick={() => void copy()}
    />
  );
}
