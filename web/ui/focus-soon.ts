const LOOKS = 30;

/**
 * Gives the focus to what takes the place of something that had it and is going, as soon as that is there. Left on nothing,
 * the next letter would be a command. Whatever has the focus by then keeps it.
 */
export function focusSoon(find: () => HTMLElement | null | undefined): void {
  let looks = 0;
  const look = () => {
    const at = document.activeElement;
    if (at && at !== document.body && at.isConnected) return;
    const place = find();
    place?.focus({ preventScroll: true });
    if (!place && ++looks < LOOKS) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}
