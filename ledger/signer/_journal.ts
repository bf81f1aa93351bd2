import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { access, type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { decodeEntry, encodeEntry, type Entry } from "./_entries.ts";
import { decodeFrames, FrameWriter } from "./_frames.ts";
import {
  type Journal,
  type JournalContent,
  type JournalPlace,
  MAX_GENERATION_BYTES,
  MAX_KEPT_BYTES,
  replaced,
} from "./_journal_place.ts";
import { SignerReplaced } from "./errors.ts";

const PREFIX = { journal: "journal-", kept: "committed-" } as const;

/**
 * Opens a journal in a folder: files `journal-1`, `journal-2`, …, of which one process can create the next. The one before is
 * then renamed to `committed-1`, ….
 */
export function openFolder(folder: string): JournalPlace {
  return {
    name: "The folder signer beside the ledger's key",
    exists: () => Promise.resolve(existsSync(folder)),
    read: () => Promise.resolve(readJournal(folder)),
    async *readKept() {
      yield* readKept(folder);
    },
    open(prepare, onDamage) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      return openJournal(folder, prepare, onDamage);
    },
  };
}

/** Reads the newest generation that is complete. Returns no entries where there is none. */
function readJournal(folder: string): JournalContent {
  let generations = listGenerations(folder);
  while (generations.length > 0) {
    const path = pathOf(folder, generations[0]!);
    const bytes = readIfPresent(path);
    if (bytes === undefined) { // another writer has begun the next one meanwhile
      generations = listGenerations(folder);
      continue;
    }
    const { payloads, damage } = decodeFrames(bytes, path);
    const entries = payloads.map((payload) => decodeEntry(payload, path));
    if (damage || entries.some(({ type }) => type === "ready")) return { entries, damage };
    generations.shift();
  }
  return { entries: [], damage: undefined };
}

function readIfPresent(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Opens the journal of a folder, and replaces whoever writes to it.
 *
 * @param prepare returns the state to begin the new generation with, from the entries of the one before
 * @param onDamage `keep damaged`: keeps the damaged file under another name, and goes on with what could be read
 * @throws {SignerStateError} what it has is damaged
 */
async function openJournal(
  folder: string,
  prepare: (entries: readonly Entry[]) => readonly Entry[],
  onDamage: "throw" | "keep damaged" = "throw",
): Promise<Journal> {
  let generation = await createNext(folder);
  try {
    const { entries, damage } = readJournal(folder);
    if (damage && onDamage === "throw") throw damage;
    const state = prepare(entries);
    if (damage) keepDamaged(folder, generation.n);
    await generation.begin(state);
  } catch (error) {
    await generation.discard();
    throw error;
  }
  return {
    append: (...args) => generation.append(...args),
    async renew(state) {
      const next = await createGeneration(folder, generation.n + 1);
      try {
        await next.begin(state);
      } catch (error) {
        await next.discard();
        throw error;
      }
      await generation.close();
      generation = next;
    },
    isFull: () => generation.isFull(),
    close: () => generation.close(),
  };
}

/** Reads all that is kept of what was committed, oldest first, with the generation at work. What is damaged is left out. */
function* readKept(folder: string): Generator<Entry> {
  const paths = [
    ...listGenerations(folder, "kept").reverse().map((n) => pathOf(folder, n, "kept")),
    ...listGenerations(folder).reverse().map((n) => pathOf(folder, n)),
  ];
  for (const path of paths) {
    const bytes = readIfPresent(path);
    if (bytes === undefined) continue;
    for (const payload of decodeFrames(bytes, path).payloads) yield decodeEntry(payload, path);
  }
}

/** Keeps a generation that another one has followed, and removes those that are too old. */
function keep(folder: string, n: number): void {
  try {
    renameSync(pathOf(folder, n), pathOf(folder, n, "kept"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error; // another writer was faster
  }
  let bytes = 0;
  for (const kept of listGenerations(folder, "kept")) {
    const path = pathOf(folder, kept, "kept");
    if (bytes >= MAX_KEPT_BYTES) rmSync(path, { force: true });
    else bytes += statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  }
}

/** Returns the numbers of the generations, newest first. */
function listGenerations(folder: string, kind: keyof typeof PREFIX = "journal"): number[] {
  const pattern = new RegExp(`^${PREFIX[kind]}(\\d{1,15})$`);
  try {
    return readdirSync(folder).flatMap((name) => pattern.exec(name)?.[1] ?? []).map(Number)
      .sort((a, b) => b - a);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Gives the newest generation before one another name. */
function keepDamaged(folder: string, before: number): void {
  const n = listGenerations(folder).find((n) => n < before);
  if (n !== undefined) renameSync(pathOf(folder, n), `${pathOf(folder, n)}.damaged-${Date.now()}`);
}

const pathOf = (folder: string, n: number, kind: keyof typeof PREFIX = "journal") =>
  join(folder, `${PREFIX[kind]}${n}`);

async function createNext(folder: string): Promise<Generation> {
  while (true) {
    try {
      return await createGeneration(folder, (listGenerations(folder)[0] ?? 0) + 1);
    } catch (error) {
      if (!(error instanceof SignerReplaced)) throw error; // another writer was faster; the last one stays
    }
  }
}

/** One file of a journal, being written. */
interface Generation extends Pick<Journal, "append" | "isFull" | "close"> {
  readonly n: number;
  /** Writes the state, and puts the generations before aside. */
  begin(state: readonly Entry[]): Promise<void>;
  /** Removes the file, which is not complete. */
  discard(): Promise<void>;
}

/** @throws {SignerReplaced} there is one of this number */
async function createGeneration(folder: string, n: number): Promise<Generation> {
  const path = pathOf(folder, n);
  const file = await openNew(path);
  const frames = new FrameWriter();
  let bytes = 0;

  async function write(entries: readonly Entry[]): Promise<void> {
    const all = Buffer.concat(entries.map((entry) => frames.encode(encodeEntry(entry))));
    for (let at = 0; at < all.length;) {
      at += (await file.write(all, at, all.length - at)).bytesWritten;
    }
    bytes += all.length;
  }

  return {
    n,
    async begin(state) {
      await write([...state, { type: "ready" }]);
      await file.sync();
      syncFolder(folder);
      // Oldest first: a writer that was replaced finds either the next generation, or its own removed.
      for (const old of listGenerations(folder).filter((old) => old < n).reverse()) {
        keep(folder, old);
      }
    },
    async append(entries, durably) {
      await write(entries);
      if (!durably) return;
      await file.datasync();
      if (await exists(pathOf(folder, n + 1)) || !await exists(path)) throw replaced();
    },
    isFull: () => bytes > MAX_GENERATION_BYTES,
    close: () => file.close(),
    async discard() {
      await file.close();
      rmSync(path, { force: true });
    },
  };
}

async function openNew(path: string): Promise<FileHandle> {
  try {
    return await open(path, "wx", 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw replaced();
    throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(() => true, () => false);
}

/** Makes the names in a folder durable. */
function syncFolder(folder: string): void {
  const file = openSync(folder, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
