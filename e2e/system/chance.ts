/** Makes random decisions from a seed: the same seed gives the same decisions on every machine. */
export class Chance {
  #state: number;

  constructor(seed: string) {
    this.#state = 2_166_136_261;
    for (const char of seed) this.#state = Math.imul(this.#state ^ (char.codePointAt(0) ?? 0), 16_777_619);
  }

  /** Returns a number from 0 to below 1, by the generator Mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d_2b_79_f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** Returns a whole number from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  of(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.next() * from.length)] as T;
  }

  /** Returns a random key. The value of a key is its weight. */
  weighed<T extends string>(weights: Readonly<Record<T, number>>): T {
    const entries = Object.entries<number>(weights);
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [value, weight] of entries) if ((left -= weight) < 0) return value as T;
    return entries[0]?.[0] as T;
  }

  /** Returns twelve random hex digits. */
  hex(): string {
    return Array.from({ length: 12 }, () => this.between(0, 15).toString(16)).join('');
  }
}
