/** Makes the answer that a model reads about a handle: `{id, state, content, result}`. The tools send the answer as JSON text. */
import { defined } from '../core/defined.ts';
import type { Handle } from './handle.ts';
import type { Range } from './stateful-tool.ts';
import type { ToolState } from './state.ts';

export type Answer = {
  readonly id: string;
  readonly state: ToolState['type'];
  readonly content?: string;
  readonly range?: string;
  readonly question?: string;
  readonly result?:
    | string
    | { readonly error: { readonly message: string; readonly trace?: readonly string[]; readonly transient?: true } };
};

/**
 * Makes the answer about a handle. `version` is the handle's version in the answer, so that a later change does not count as
 * shown.
 */
export async function answerOf(handle: Handle, range?: Range): Promise<{ answer: Answer; version: number }> {
  // A stopped handle keeps its last output in `ending`, so only a range is read again.
  const reading = handle.active || range !== undefined ? await handle.read(range) : undefined;
  const { phase, version, id } = handle;
  const content = reading?.content ?? '';
  const read = {
    ...(content === '' && range === undefined ? {} : { content }),
    ...(reading?.range === undefined ? {} : { range: reading.range }),
  };
  switch (phase.type) {
    case 'running':
      return { answer: { id, state: phase.type, ...read }, version };
    case 'waiting':
      return { answer: { id, state: phase.type, ...read, question: phase.question }, version };
    case 'stopped': {
      const { result } = phase;
      if ('ok' in result)
        return { answer: { id, state: phase.type, ...(range === undefined ? { result: result.ok } : read) }, version };
      const { message, trace, transient } = result.error;
      const error = { message, ...(trace.length > 0 ? { trace } : {}), ...(transient ? { transient } : {}) };
      const text = handle.ending?.text ?? '';
      const said = range !== undefined ? read : text === '' ? {} : { content: text };
      return { answer: { id, state: phase.type, result: { error }, ...said }, version };
    }
  }
}

/** The data of a handle that a program shows to people. */
export type HandleView = {
  readonly id: string;
  readonly uid: string;
  readonly tool: string;
  readonly state: ToolState['type'];
  readonly background: boolean;
  readonly elapsedMs: number;
  readonly question?: string;
  /** The exit code that the tool returned. Undefined while the handle is active, and if the tool returned no exit code. */
  readonly exitCode?: number;
  readonly error?: string;
  readonly lastLine?: string;
};

export function viewOf(handle: Handle, now: number): HandleView {
  const { phase } = handle;
  const { exitCode, lastLine } = handle.ending ?? {};
  return {
    id: handle.id,
    uid: handle.uid,
    tool: handle.tool.name,
    state: phase.type,
    background: handle.background,
    elapsedMs: Math.max(0, (handle.stoppedAt ?? now) - handle.startedAt),
    ...(phase.type === 'waiting' ? { question: phase.question } : {}),
    ...defined({ exitCode }),
    ...(phase.type === 'stopped' && 'error' in phase.result ? { error: phase.result.error.message } : {}),
    ...(lastLine ? { lastLine } : {}),
  };
}
