import { X } from "lucide-react";
import { useEffect, useState } from "react";
import { readImage } from "../../state/kept-images.js";
import { IconButton } from "../../ui/button.js";
import { removeImage } from "./images.js";

interface AttachmentsProps {
  readonly threadId: string;
  readonly images: readonly string[];
}

/** The images that go along with the message. */
export function Attachments({ threadId, images }: AttachmentsProps) {
  if (images.length === 0) return null;
  return (
    <ul className="attached" aria-label="Images">
      {images.map((id, at) => (
        <li key={id}>
          <Thumbnail id={id} label={`Image ${at + 1}`} />
          <IconButton
            icon={X}
            small
            size={12}
            label={`Remove image ${at + 1}`}
            onClick={() => removeImage(threadId, id)}
          />
        </li>
      ))}
    </ul>
  );
}

function Thumbnail({ id, label }: { readonly id: string; readonly label: string }) {
  const [url, setUrl] = useState<string | undefined>();
  useEffect(() => {
    let made: string | undefined;
    let gone = false;
    void readImage(id).then((blob) => {
      if (!blob || gone) return;
      made = URL.createObjectURL(blob);
      setUrl(made);
    });
    return () => {
      gone = true;
      if (made) URL.revokeObjectURL(made);
    };
  }, [id]);
  return url ? <img src={url} alt={label} /> : <span className="thumb" role="img" aria-label={label} />;
}
