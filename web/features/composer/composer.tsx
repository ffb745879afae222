import "./composer.css";

export function Composer({ threadId }: { readonly threadId: string }) {
  return <div className="dock" data-thread={threadId} />;
}
