import { Component, type ReactNode } from "react";
import { Button } from "../ui/button.js";

/** A fault of the page itself. What was typed is in the browser's storage, so that a reload loses nothing. */
export class ErrorBoundary extends Component<{ readonly children: ReactNode }, { readonly failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    if (!this.state.failed) return this.props.children;
    return (
      <main className="blank" role="alert">
        <h1>The page stopped working</h1>
        <p className="ink-2">Your threads are safe, and what you typed is kept. Reload to go on.</p>
        <Button kind="primary" onClick={() => location.reload()}>
          Reload the page
        </Button>
      </main>
    );
  }
}
