import { useState } from "react";
import { usePlace } from "./place.js";

interface AssetImageProps {
  readonly asset: string;
  readonly mime: string;
}

/** An image that lies beside the thread. Its room is kept until it is there. */
export function AssetImage({ asset, mime }: AssetImageProps) {
  const { ws, thread } = usePlace();
  const [state, setState] = useState<"loading" | "ready" | "failed">("loading");
  if (asset === "" || state === "failed")
    return <p className="small ink-3">The image is not there any more.</p>;
  const query = new URLSearchParams({ type: mime, workspace_id: ws });
  const src = `/threads/${encodeURIComponent(thread)}/assets/${encodeURIComponent(asset)}?${query}`;
  return (
    <a className={`picture ${state}`} href={src} target="_blank" rel="noopener noreferrer">
      <img src={src} alt="Attached" onLoad={() => setState("ready")} onError={() => setState("failed")} />
    </a>
  );
}
