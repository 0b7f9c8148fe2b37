/**
 * Keeps a small file for the recovery after a crash. The file names the handles that a crash loses, the processes to end, and
 * the notifications that are not queued yet.
 *
 * Each change writes the whole file and renames it into place. Only the conversation's agent writes the file. After a failed
 * write, the handles continue, and the next change writes the file again.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Owner } from '../core/records.ts';
import { makeFolders } from '../input/folders.ts';
import type { Notice } from './notices.ts';

export type LedgerEntry = {
  readonly uid: string;
  readonly id: string;
  readonly about: string;
  readonly tool: string;
  /** True if the call that started the handle does not wait for its end. A notification then reports the end. */
  readonly background: boolean;
  /** Epoch ms. */
  readonly startedAt: number;
  readonly owner: Owner;
  readonly process?: { readonly pid: number; readonly startedAt: string };
  /** The notice to queue after a crash, if the handle had stopped and the model has not read the end. */
  readonly notice?: Notice;
  /** The call whose answer reported the end. */
  readonly toldIn?: string;
};

export class Ledger {
  readonly #path: string;
  readonly #folder: string;
  readonly #onTrouble: (error: unknown) => void;
  #entries = new Map<string, LedgerEntry>();
  #isBehind = false;

  /** `onTrouble` gets only the first error of consecutive failed writes. */
  constructor(folder: string, onTrouble: (error: unknown) => void) {
    this.#folder = folder;
    this.#onTrouble = onTrouble;
    this.#path = join(folder, 'handles.json');
    for (const entry of load(this.#path)) this.#entries.set(entry.uid, entry);
  }

  entries(): readonly LedgerEntry[] {
    return [...this.#entries.values()];
  }

  get(uid: string): LedgerEntry | undefined {
    return this.#entries.get(uid);
  }

  put(entry: LedgerEntry): void {
    this.#entries.set(entry.uid, entry);
    this.#save();
  }

  remove(uid: string): void {
    if (this.#entries.delete(uid)) this.#save();
  }

  #save(): void {
    try {
      makeFolders(this.#folder);
      if (this.#entries.size === 0) {
        rmSync(this.#path, { force: true });
        // On a full disk a removal succeeds too. Only a write shows that the trouble has ended.
        if (!this.#isBehind) return;
      }
      const next = `${this.#path}.next`;
      writeFileSync(next, `${JSON.stringify({ version: 1, handles: this.entries() }, undefined, 1)}\n`, { mode: 0o600 });
      renameSync(next, this.#path);
      this.#isBehind = false;
    } catch (cause) {
      if (this.#isBehind) return;
      this.#isBehind = true;
      const { code, message } = cause as NodeJS.ErrnoException;
      this.#onTrouble(
        new Error(
          `the ledger of handles ${this.#path} cannot be written (${code ?? message}): free disk space, or make ${this.#folder} writable; until then, a crash loses notifications about handles`,
          { cause },
        ),
      );
    }
  }
}

/**
 * Reads the file. A damaged file is renamed and ignored, because the conversation can continue without its handles. Throws if the
 * file exists but cannot be read.
 */
function load(path: string): readonly LedgerEntry[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  try {
    const { handles } = JSON.parse(text) as { handles: readonly LedgerEntry[] };
    return handles.filter((entry) => typeof entry.uid === 'string' && typeof entry.id === 'string');
  } catch {
    renameSync(path, `${path}.bad`);
    return [];
  }
}
