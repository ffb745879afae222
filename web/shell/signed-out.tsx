import { Mark } from "../ui/icon.js";

/** The gateway is there, but this browser was not let in. Only the printed address can do that. */
export function SignedOut() {
  return (
    <main className="blank signed-out">
      <Mark />
      <h1>This browser is not signed in</h1>
      <p className="ink-2">
        Open the address that Heddle printed when it started; its code lets this browser in. To get a new one,
        run <code>heddle open</code> in a terminal, or start Heddle again.
      </p>
    </main>
  );
}
