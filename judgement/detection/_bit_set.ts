/** A set of whole numbers below a bound. It takes one bit a number, so that thousands of sets fit into memory. */
export class BitSet implements Iterable<number> {
  readonly #words: Uint32Array;

  constructor(bound: number) {
    this.#words = new Uint32Array((bound + 31) >>> 5);
  }

  has(n: number): boolean {
    return (this.#words[n >>> 5]! >>> (n & 31) & 1) === 1;
  }

  add(n: number): void {
    this.#words[n >>> 5]! |= 1 << (n & 31);
  }

  delete(n: number): void {
    this.#words[n >>> 5]! &= ~(1 << (n & 31));
  }

  addAll(others: BitSet): void {
    for (const [at, word] of others.#words.entries()) this.#words[at]! |= word;
  }

  get size(): number {
    let size = 0;
    for (let word of this.#words) for (; word !== 0; word &= word - 1) size++;
    return size;
  }

  /** Ascending. */
  *[Symbol.iterator](): Generator<number> {
    for (const [at, word] of this.#words.entries()) {
      for (let rest = word; rest !== 0; rest &= rest - 1) {
        yield (at << 5) + 31 - Math.clz32(rest & -rest);
      }
    }
  }
}
