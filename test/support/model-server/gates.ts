/** Points at which a script waits until its test lets it go on. */
export class Gates {
  readonly #gates = new Map<string, { readonly opened: Promise<void>; readonly open: () => void }>();

  wait(name: string): Promise<void> {
    return this.#gate(name).opened;
  }

  /** Whoever comes later does not wait either. */
  open(name: string): void {
    this.#gate(name).open();
  }

  /** Those that were opened are shut for whoever comes from now on. */
  shut(): void {
    this.#gates.clear();
  }

  #gate(name: string) {
    let gate = this.#gates.get(name);
    if (!gate) {
      let open = () => {};
      const opened = new Promise<void>((done) => {
        open = done;
      });
      gate = { opened, open };
      this.#gates.set(name, gate);
    }
    return gate;
  }
}
