import type { Entry } from "./_entries.ts";
import { SignerReplaced, type SignerStateError } from "./errors.ts";

/**
 * The memory of a signer, which only grows, in generations. Each begins with a copy of the state; those before are kept for a
 * while. Whoever begins the next one replaces the writer of the one before, who notices that after each write. So two writers
 * never both give away what they have written.
 */
export interface Journal {
  /** Appends entries. @param durably waits until they are stored, and this is still the writer @throws {SignerReplaced} */
  append(entries: readonly Entry[], durably: boolean): Promise<void>;
  /** Begins the next generation with a copy of the state. */
  renew(state: readonly Entry[]): Promise<void>;
  /** Returns true where the next generation should begin. */
  isFull(): boolean;
  close(): Promise<void>;
}

/** The entries of a journal. */
export interface JournalContent {
  readonly entries: readonly Entry[];
  /** Where and why no more could be read; undefined: these are all. */
  readonly damage: SignerStateError | undefined;
}

/** Where a journal is. */
export interface JournalPlace {
  /** For people, as the beginning of a sentence. */
  readonly name: string;
  /** Returns true where there is anything of a journal. */
  exists(): Promise<boolean>;
  /** Reads the newest generation that is complete, and leaves its writer alone. Returns no entries where there is none. */
  read(): Promise<JournalContent>;
  /** Reads all that is kept, oldest first, with the generation at work. What is damaged is left out. */
  readKept(): AsyncIterable<Entry>;
  /**
   * Opens the journal, and replaces whoever writes to it.
   *
   * @param prepare returns the state to begin the new generation with, from the entries of the one before
   * @param onDamage `keep damaged`: puts what is damaged aside, and goes on with what could be read
   * @throws {SignerStateError} what it has is damaged
   */
  open(
    prepare: (entries: readonly Entry[]) => readonly Entry[],
    onDamage?: "throw" | "keep damaged",
  ): Promise<Journal>;
}

/** Size of a generation at which the next one begins. */
export const MAX_GENERATION_BYTES = 16 * 1024 * 1024;
/** Bytes of what was committed that are kept at least, if there were so many. */
export const MAX_KEPT_BYTES = 64 * 1024 * 1024;

/** Returns the error of a writer whose journal another one has. */
export const replaced = () =>
  new SignerReplaced("The signer was replaced: another sequencer is at work with the same state");
