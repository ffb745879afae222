import { Dialog } from "../../ui/dialog.js";

export default function Palette({ onClose }: { readonly query?: string; onClose(): void }) {
  return (
    <Dialog label="Palette" onClose={onClose}>
      {null}
    </Dialog>
  );
}
