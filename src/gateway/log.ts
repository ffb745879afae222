/** What the gateway needs of a logger; `app` brings a real one. Never hand it tokens or document content. */
export interface Log {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}
