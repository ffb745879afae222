import { type ReactNode, useEffect, useRef } from "react";

interface DialogProps {
  readonly label: string;
  readonly className?: string;
  onClose(): void;
  readonly children: ReactNode;
}

/** Over everything else; Escape and a click beside it close it, and the focus goes back to where it was. */
export function Dialog({ label, className = "", onClose, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    ref.current?.showModal();
    return () => {
      // What was chosen in it may have given the focus to something else by now.
      if (before instanceof HTMLElement && document.activeElement === document.body) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      aria-label={label}
      className={`dlg ${className}`}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === ref.current && onClose()}
    >
      {children}
    </dialog>
  );
}
