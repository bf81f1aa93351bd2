import { decodeEntry, encodeEntry, type Entry } from "./_entries.ts";
import { decodeFrames, FrameWriter, isBeginning } from "./_frames.ts";
import {
  type Journal,
  type JournalContent,
  type JournalPlace,
  MAX_GENERATION_BYTES,
  MAX_KEPT_BYTES,
  replaced,
} from "./_journal_place.ts";
import { SignerStateError } from "./errors.ts";
import type { JournalObjects } from "./journal_objects.ts";

/** Objects of a generation at which the next one begins, so that few have to be read at a start. */
const MAX_OBJECTS = 1_000;
/** Objects that are read or removed at a time. */
const CONCURRENCY = 16;
const PREFIX = { write: "write-", kept: "committed-", probe: "probe" } as const;

/** An object of the journal: one write. */
interface Write {
  readonly seq: number;
  readonly bytes: Buffer;
}

/** The writes of a generation, in order. The first begins with a copy of the state. */
type Writes = readonly [Write, ...Write[]];

const keyOf = (seq: number, kind: "write" | "kept" = "write") =>
  `${PREFIX[kind]}${String(seq).padStart(15, "0")}`;

/**
 * Opens a journal in a bucket. Each write is an object whose name is the next number, and is created only where there is none:
 * so of two writers one writes it, and the other is replaced. A generation that another one has followed becomes one object,
 * `committed-…`. Of its writes the first stays, empty: a writer that was replaced, and knows nothing of it, meets that.
 */
export function openObjects(objects: JournalObjects): JournalPlace {
  const nameOf = (seq: number) => `object ${keyOf(seq)}`;

  /** Lists the writes that are there, oldest first. */
  async function list(kind: "write" | "kept"): Promise<{ seq: number; bytes: number }[]> {
    const found: { seq: number; bytes: number }[] = [];
    for await (const { key, bytes } of objects.list(PREFIX[kind])) {
      found.push({ seq: Number(key.slice(PREFIX[kind].length)), bytes });
    }
    return found.sort((a, b) => a.seq - b.seq);
  }

  /** Reads the generations that are not packed, oldest first, and the number of the newest write. */
  async function readWrites(): Promise<{ generations: Writes[]; last: number }> {
    for (;;) {
      const found = await list("write");
      const wanted = found.filter(({ bytes }) => bytes > 0);
      const read = await inParallel(wanted, async ({ seq }) => ({
        seq,
        bytes: await objects.get(keyOf(seq)),
      }));
      // What has gone since, another writer has packed: it is read anew.
      if (read.some(({ bytes }) => bytes === undefined || bytes.length === 0)) continue;
      const generations: [Write, ...Write[]][] = [];
      for (const write of read as Write[]) {
        const generation = generations.at(-1);
        if (!generation || isBeginning(write.bytes)) generations.push([write]);
        else generation.push(write);
      }
      return { generations, last: found.at(-1)?.seq ?? 0 };
    }
  }

  const read = async () => decode((await readWrites()).generations.at(-1));

  function decode(writes: Writes | undefined): JournalContent {
    if (!writes) return { entries: [], damage: undefined };
    const name = nameOf(writes[0].seq);
    const bytes = Buffer.concat(writes.map((write) => write.bytes));
    const { payloads, damage } = decodeFrames(bytes, name);
    const hasGap = writes.some(({ seq }, n) => seq !== writes[0].seq + n);
    return {
      entries: payloads.map((payload) => decodeEntry(payload, name)),
      damage: damage ??
        (hasGap ? new SignerStateError(`The signer's journal has a gap after ${name}`) : undefined),
    };
  }

  /** Makes one object of a generation that another one has followed. Safe to repeat, by several at once. */
  async function pack(writes: Writes): Promise<void> {
    const [first, ...more] = writes;
    await objects.create(keyOf(first.seq, "kept"), Buffer.concat(writes.map(({ bytes }) => bytes)));
    await inParallel(more, ({ seq }) => objects.remove(keyOf(seq)));
    await objects.put(keyOf(first.seq), Buffer.alloc(0));
    let bytes = 0;
    for (const kept of (await list("kept")).reverse()) {
      if (bytes >= MAX_KEPT_BYTES) await objects.remove(keyOf(kept.seq, "kept"));
      else bytes += kept.bytes;
    }
  }

  async function open(
    prepare: (entries: readonly Entry[]) => readonly Entry[],
    onDamage: "throw" | "keep damaged" = "throw",
  ): Promise<Journal> {
    await requireConditionalWrites(objects);
    for (;;) {
      const { generations, last } = await readWrites();
      const { entries, damage } = decode(generations.at(-1));
      if (damage && onDamage === "throw") throw damage;
      const frames = new FrameWriter();
      const first = encodeAll(frames, [...prepare(entries), { type: "ready" }]);
      const seq = last + 1;
      // Where another one has written since, what was prepared is too old.
      if (!await objects.create(keyOf(seq), first)) continue;
      return writeJournal(frames, { seq, bytes: first }, generations);
    }
  }

  function writeJournal(frames: FrameWriter, first: Write, older: readonly Writes[]): Journal {
    let writes: [Write, ...Write[]] = [first];
    let size = first.bytes.length;
    let buffered: Buffer[] = [];
    let packing = packAll(older);

    function packAll(all: readonly Writes[]): Promise<void> {
      return all.reduce((before, one) => before.then(() => pack(one)), Promise.resolve())
        .catch(() => {}); // the next one that opens the journal does it
    }

    async function write(bytes: Buffer): Promise<Write> {
      const seq = writes.at(-1)!.seq + 1;
      const isOurs = await objects.create(keyOf(seq), bytes) ||
        (await objects.get(keyOf(seq)))?.equals(bytes); // an answer that was lost, and a second try
      if (!isOurs) throw replaced();
      return { seq, bytes };
    }

    async function flush(): Promise<void> {
      const bytes = Buffer.concat(buffered);
      buffered = [];
      writes.push(await write(bytes));
      size += bytes.length;
    }

    return {
      async append(entries, durably) {
        buffered.push(encodeAll(frames, entries));
        if (durably) await flush();
      },
      async renew(state) {
        if (buffered.length > 0) await flush();
        const before = writes;
        frames = new FrameWriter();
        const next = await write(encodeAll(frames, [...state, { type: "ready" }]));
        writes = [next];
        size = next.bytes.length;
        const earlier = packing;
        packing = earlier.then(() => packAll([before]));
      },
      isFull: () => size > MAX_GENERATION_BYTES || writes.length > MAX_OBJECTS,
      async close() {
        // What is committed is known from the database, too, if this is lost.
        if (buffered.length > 0) await flush().catch(() => {});
        await packing;
      },
    };
  }

  return {
    name: "The signer's journal in the bucket",
    async exists() {
      for await (const _ of objects.list(PREFIX.write)) return true;
      return false;
    },
    read,
    async *readKept() {
      // First: what is packed meanwhile is then among those that are kept.
      const { generations } = await readWrites();
      for (const { seq } of await list("kept")) {
        const bytes = await objects.get(keyOf(seq, "kept"));
        if (bytes) yield* decodeAll(bytes, keyOf(seq, "kept"));
      }
      for (const writes of generations) yield* decode(writes).entries;
    },
    open,
  };
}

function encodeAll(frames: FrameWriter, entries: readonly Entry[]): Buffer {
  return Buffer.concat(entries.map((entry) => frames.encode(encodeEntry(entry))));
}

function* decodeAll(bytes: Buffer, name: string): Generator<Entry> {
  for (const payload of decodeFrames(bytes, name).payloads) yield decodeEntry(payload, name);
}

/** Two writers are kept apart by this alone. @throws {SignerStateError} the server ignores the condition */
async function requireConditionalWrites(objects: JournalObjects): Promise<void> {
  const bytes = Buffer.from("sealoop\n");
  await objects.put(PREFIX.probe, bytes);
  if (!await objects.create(PREFIX.probe, bytes)) return;
  throw new SignerStateError(
    "The bucket does not honour If-None-Match, by which two signers are kept apart: use another server, " +
      "or keep the journal in the data folder",
  );
}

async function inParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += CONCURRENCY) {
    results.push(...await Promise.all(items.slice(at, at + CONCURRENCY).map(work)));
  }
  return results;
}
