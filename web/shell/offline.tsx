/** Over main while the gateway can't be reached. */
export function OfflineBanner() {
  return null;
}
