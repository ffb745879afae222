/**
 * Tells every listener. One that throws keeps no other from hearing, and the client from nothing that comes after; its error
 * is thrown where nobody waits for it, as any that nobody catches.
 */
export function tell<T>(listeners: Iterable<(told: T) => void>, told: T): void {
  for (const listener of listeners) {
    try {
      listener(told);
    } catch (error) {
      setTimeout(() => {
        throw error;
      });
    }
  }
}
