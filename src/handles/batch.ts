/** Records which call of the current batch started which handle, because parallel calls may name each other's handles. */
import type { Target } from './await-tool.ts';
import { spawnedId } from './command.ts';
import { Handle } from './handle.ts';
import type { StatefulTool } from './stateful-tool.ts';
import type { ToolCall } from './tool.ts';

export class BatchCalls {
  readonly #definitions: ReadonlyMap<string, StatefulTool>;
  readonly #started = new Map<string, Handle | { readonly failed: string }>();

  constructor(definitions: ReadonlyMap<string, StatefulTool>) {
    this.#definitions = definitions;
  }

  started(callId: string, handle: Handle): void {
    this.#started.set(callId, handle);
  }

  /** Records that a call failed. Returns false if the call has started its handle, or has already failed. */
  failed(callId: string, why: string): boolean {
    if (this.#started.has(callId)) return false;
    this.#started.set(callId, { failed: why });
    return true;
  }

  /** Forgets all calls except the calls with these ids. */
  keep(ids: ReadonlySet<string>): void {
    for (const known of this.#started.keys()) if (!ids.has(known)) this.#started.delete(known);
  }

  /** Finds the handle that a call of this batch starts under a name. Undefined if no call starts such a handle. */
  target(id: string, call: ToolCall): Target | undefined {
    const spawn = call.batch.find((other) => this.#spawns(other) === id);
    if (spawn === undefined) return undefined;
    return {
      id,
      get: () => {
        const started = this.#started.get(spawn.id);
        return started === undefined || started instanceof Handle ? started : started.failed;
      },
    };
  }

  /** Returns the name that two calls of this batch give to their handles. Undefined if there is no such name. */
  namedTwice(call: ToolCall): string | undefined {
    const seen = new Set<string>();
    for (const other of call.batch) {
      const id = this.#spawns(other);
      if (id === undefined) continue;
      if (seen.has(id)) return id;
      seen.add(id);
    }
    return undefined;
  }

  #spawns({ name, args }: ToolCall['batch'][number]): string | undefined {
    const tool = this.#definitions.get(name);
    return tool === undefined ? undefined : spawnedId(tool, args);
  }
}
