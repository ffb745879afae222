import { Dialog } from "../../ui/dialog.js";

export default function KeysSheet({ onClose }: { readonly query?: string; onClose(): void }) {
  return (
    <Dialog label="KeysSheet" onClose={onClose}>
      {null}
    </Dialog>
  );
}
