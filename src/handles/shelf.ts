/** Keeps the handles that can be fetched, under the names that the model knows. */
import { rmSync } from 'node:fs';

import { EarpieceError } from '../core/errors.ts';
import type { Handle } from './handle.ts';

/** The maximum number of ended handles that can still be fetched. */
const KEPT = 50;

export class Shelf {
  /** The newest handle of each name, oldest first. */
  readonly #handles = new Map<string, Handle>();
  /** How often each name was claimed, counted from the first background handle with the name. */
  readonly #uses = new Map<string, number>();
  #made = 0;

  /** `used` contains the names of handles from before a restart. A new handle with such a name gets another `about`. */
  constructor(used: Iterable<string>) {
    for (const id of used) this.#uses.set(id, (this.#uses.get(id) ?? 0) + 1);
  }

  /** Returns every handle, oldest first. */
  all(): Handle[] {
    return [...this.#handles.values()];
  }

  /** Returns the handles that run or wait. */
  active(): Handle[] {
    return this.all().filter((handle) => handle.active);
  }

  named(id: string): Handle {
    const handle = this.#handles.get(id);
    if (handle !== undefined) return handle;
    const active = this.active().map((other) => other.id);
    throw new EarpieceError(
      'bad_argument',
      `no handle is called ${JSON.stringify(id)}; ${active.length === 0 ? 'no handle is active' : `active handles: ${active.join(', ')}`}`,
    );
  }

  /** Returns a free name, such as `run-3`, for a handle that the model did not name. */
  freeName(tool: string): string {
    let name: string;
    do name = `${tool}-${++this.#made}`;
    while (this.#handles.has(name));
    return name;
  }

  /**
   * Reserves a name for a new handle, and returns the value of `about` for its notifications. Throws `bad_argument` if an active
   * handle has the name. A stopped handle with the name can no longer be fetched.
   */
  claim(id: string, { background }: { readonly background: boolean }): string {
    const holder = this.#handles.get(id);
    if (holder?.active)
      throw new EarpieceError(
        'bad_argument',
        `handle ${JSON.stringify(id)} is taken: ${holder.tool.name} is ${holder.phase.type} under this name; choose another name, or abort that handle first`,
      );
    if (holder !== undefined) this.#remove(holder);
    const used = this.#uses.get(id) ?? 0;
    if (background || used > 0) this.#uses.set(id, used + 1);
    return used === 0 ? `handle:${id}` : `handle:${id}#${used + 1}`;
  }

  put(handle: Handle): void {
    this.#handles.set(handle.id, handle);
  }

  /**
   * Removes the handle of a one-shot call that has ended. If the output was cut, the handle stays, so that the model can read the
   * missing part by range.
   */
  forget(handle: Handle): void {
    if (handle.ending?.more !== true && this.#handles.get(handle.id) === handle) this.#remove(handle);
  }

  /** Removes the oldest ended handles above the limit. */
  evict(): void {
    const ended = this.all().filter((handle) => !handle.active && handle.watchers === 0);
    for (const handle of ended.slice(0, Math.max(0, ended.length - KEPT))) this.#remove(handle);
  }

  /** Removes a handle, which can then no longer be fetched. An open notification about the handle stays open. */
  #remove(handle: Handle): void {
    this.#handles.delete(handle.id);
    rmSync(handle.folder, { recursive: true, force: true });
  }
}
