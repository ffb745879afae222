/** The tab Artifacts of the inspector. */
export default function ArtifactPanels({ threadId }: { readonly threadId: string }) {
  return <div>{threadId}</div>;
}
