/**
 * Images that were added to a message and not sent yet. They are too large for the browser's small storage, so that drafts
 * and unsent messages name them by an id.
 */
const DATABASE = "heddle";
const STORE = "images";
/** What nobody names any more after this long was left by a window that crashed. */
const FORGOTTEN_MS = 24 * 60 * 60 * 1_000;

interface Kept {
  readonly blob: Blob;
  readonly at: number;
}

/** What this window knows already: also all there is where the browser keeps nothing. */
const known = new Map<string, Blob>();
let database: Promise<IDBDatabase | undefined> | undefined;

function open(): Promise<IDBDatabase | undefined> {
  database ??= new Promise((resolve) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    // A private window may have no storage: then an image lives as long as the window does.
    request.onerror = () => resolve(undefined);
    request.onblocked = () => resolve(undefined);
  });
  return database;
}

async function within<T>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<T>) {
  const db = await open();
  if (!db) return undefined;
  return new Promise<T | undefined>((resolve) => {
    const transaction = db.transaction(STORE, mode);
    const request = work(transaction.objectStore(STORE));
    transaction.oncomplete = () => resolve(request.result);
    transaction.onabort = () => resolve(undefined);
  });
}

/** Resolves when the image outlasts a reload. */
export async function keepImage(blob: Blob): Promise<string> {
  const id = crypto.randomUUID();
  known.set(id, blob);
  await within("readwrite", (store) => store.put({ blob, at: Date.now() } satisfies Kept, id));
  return id;
}

export async function readImage(id: string): Promise<Blob | undefined> {
  const at_hand = known.get(id);
  if (at_hand) return at_hand;
  const kept = (await within("readonly", (store) => store.get(id))) as Kept | undefined;
  if (kept) known.set(id, kept.blob);
  return kept?.blob;
}

/** Some of what was asked for is not there. */
export class ImagesGone extends Error {
  constructor(readonly ids: readonly string[]) {
    super(
      ids.length === 1
        ? "An image of this message is not in this browser any more."
        : `${ids.length} images of this message are not in this browser any more.`,
    );
  }
}

/** All of them, or `ImagesGone`: a message must not go without what was added to it. */
export async function readImages(ids: readonly string[]): Promise<readonly Blob[]> {
  const blobs = await Promise.all(ids.map(readImage));
  const found = blobs.filter((blob) => blob !== undefined);
  if (found.length < ids.length) throw new ImagesGone(ids.filter((_, at) => blobs[at] === undefined));
  return found;
}

export function dropImages(ids: readonly string[]): void {
  for (const id of ids) {
    known.delete(id);
    void within("readwrite", (store) => store.delete(id));
  }
}

/** Removes what nothing names. `named` is asked late: a window may be adding one just now. */
export async function dropForgotten(named: () => ReadonlySet<string>): Promise<void> {
  const db = await open();
  if (!db) return;
  const store = db.transaction(STORE, "readwrite").objectStore(STORE);
  const walk = store.openCursor();
  walk.onsuccess = () => {
    const cursor = walk.result;
    if (!cursor) return;
    const { at } = cursor.value as Kept;
    if (Date.now() - at > FORGOTTEN_MS && !named().has(String(cursor.key))) cursor.delete();
    cursor.continue();
  };
}

/** As it goes over the wire. */
export async function imageBlock(blob: Blob) {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000)
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return { type: "image" as const, data: btoa(binary), mimeType: blob.type };
}
