import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { toastProblem } from "../../state/toasts.js";
import { Button } from "../../ui/button.js";

/** Copies a text, and says for a moment that it did. */
export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2_000);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () => {
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => toastProblem(new Error("The browser did not let it be copied. Select the text instead.")),
    );
  };
  return (
    <Button small icon={copied ? Check : Copy} aria-label={label} onClick={copy}>
      {copied ? "Copied" : "Copy"}
    </Button>
  );
}
