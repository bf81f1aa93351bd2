/** A look at one service on a walk. @param steps 0: where the walk began */
export type Visit = (service: number, steps: number) => void;

/**
 * A graph of services whose names are numbered once, so that thousands of walks over it need no memory of their own.
 * May have cycles.
 */
export class Walks {
  readonly names: readonly string[];
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #needs: readonly (readonly number[])[];
  /** Number of the walk that came by last. */
  readonly #seen: Int32Array;
  readonly #queue: Int32Array;
  #walk = 0;

  /** @param dependsOn service → what it depends on @param others that may stand in no graph */
  constructor(dependsOn: ReadonlyMap<string, readonly string[]>, others: Iterable<string>) {
    this.names = [...new Set([...dependsOn.keys(), ...[...dependsOn.values()].flat(), ...others])];
    const numbers = new Map(this.names.map((name, number) => [name, number]));
    this.#numbers = numbers;
    this.#needs = this.names.map((name) =>
      (dependsOn.get(name) ?? []).map((needed) => numbers.get(needed)!)
    );
    this.#seen = new Int32Array(this.names.length);
    this.#queue = new Int32Array(this.names.length);
  }

  /** @throws {TypeError} there is no such service */
  numberOf(name: string): number {
    const number = this.#numbers.get(name);
    if (number === undefined) throw new TypeError(`${name} is not in the graph`);
    return number;
  }

  /** Visits a service and all that it depends on, however far away, each once and the nearest first. */
  from(service: number, visit: Visit): void {
    const walk = ++this.#walk;
    let [end, level, steps] = [1, 1, 0];
    this.#queue[0] = service;
    this.#seen[service] = walk;
    for (let at = 0; at < end; at++) {
      if (at === level) {
        level = end;
        steps++;
      }
      const one = this.#queue[at]!;
      visit(one, steps);
      for (const needed of this.#needs[one]!) {
        if (this.#seen[needed] === walk) continue;
        this.#seen[needed] = walk;
        this.#queue[end++] = needed;
      }
    }
  }
}
