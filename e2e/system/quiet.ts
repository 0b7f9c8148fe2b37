import { now } from './journal.ts';

/** While a producer needs quiet, the other producers are silent, and the windows only call tools and pull. */
export class Quiet {
  #by: object | undefined;
  #until = 0;

  ask(by: object, ms: number): void {
    if (this.isOn && this.#by !== by) return;
    [this.#by, this.#until] = [by, now() + ms];
  }

  end(by: object): void {
    if (this.#by === by) this.#until = 0;
  }

  get isOn(): boolean {
    return now() < this.#until;
  }

  isFor(other: object): boolean {
    return !this.isOn || this.#by === other;
  }
}
