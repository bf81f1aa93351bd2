/** Called for each service of a walk. @param steps 0: the service where the walk began */
export type Visit = (service: number, steps: number) => void;

/**
 * A graph of services, which may have cycles. The names are numbered once, so that thousands of walks need no memory of
 * their own.
 */
export class ServiceGraph {
  readonly names: readonly string[];
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #needs: readonly (readonly number[])[];
  /** Number of the last walk that visited a service. */
  readonly #visitedBy: Int32Array;
  readonly #queue: Int32Array;
  #walk = 0;

  /**
   * @param dependsOn service → the services that it depends on
   * @param others services that may be missing there
   */
  constructor(dependsOn: ReadonlyMap<string, readonly string[]>, others: Iterable<string>) {
    this.names = [...new Set([...dependsOn.keys(), ...[...dependsOn.values()].flat(), ...others])];
    const numbers = new Map(this.names.map((name, number) => [name, number]));
    this.#numbers = numbers;
    this.#needs = this.names.map((name) =>
      (dependsOn.get(name) ?? []).map((needed) => numbers.get(needed)!)
    );
    this.#visitedBy = new Int32Array(this.names.length);
    this.#queue = new Int32Array(this.names.length);
  }

  /** @throws {TypeError} there is no such service */
  numberOf(name: string): number {
    const number = this.#numbers.get(name);
    if (number === undefined) throw new TypeError(`${name} is not in the graph`);
    return number;
  }

  /** Visits a service and all that it depends on, directly or not, each once and the nearest first. */
  walkFrom(service: number, visit: Visit): void {
    const walk = ++this.#walk;
    let end = 1;
    let levelEnd = 1;
    let steps = 0;
    this.#queue[0] = service;
    this.#visitedBy[service] = walk;
    for (let at = 0; at < end; at++) {
      if (at === levelEnd) {
        levelEnd = end;
        steps++;
      }
      const current = this.#queue[at]!;
      visit(current, steps);
      for (const needed of this.#needs[current]!) {
        if (this.#visitedBy[needed] === walk) continue;
        this.#visitedBy[needed] = walk;
        this.#queue[end++] = needed;
      }
    }
  }
}
