export default function FolderView({ folderId }: { readonly folderId: string }) {
  return <main className="main">{folderId}</main>;
}
