/**
 * Detects that an agent repeats its calls: the same signature in three of its last six batches. Reports a loop once for each
 * turn. The signature consists of the tools' names and their identifying arguments. For a call without such arguments, the
 * signature contains all arguments.
 */
import type { Json } from '../../core/json.ts';
import { cut, plainDuration, seen, type Seen } from './seen.ts';

export type Called = { readonly name: string; readonly args: Json };

const ABOUT = ['path', 'query', 'thread_id', 'file_path', 'command'] as const;
const ARGUMENT_CHARS = 50;
const LAST = 6;
const REPETITIONS = 3;
const PATTERN_CHARS = 300;
const SUGGESTION = 'Calling it again will not change the results; try another approach, or say what is missing.';

export class Loops {
  #batches: { readonly signature: string; readonly at: number }[] = [];
  #told = false;

  /** Begins a turn, in which a loop can be reported again. */
  begin(): void {
    this.#batches = [];
    this.#told = false;
  }

  /** Adds a batch of calls. Returns the event if the calls repeat, at most once for each turn. */
  batch(calls: readonly Called[], now: number): readonly Seen[] {
    const signature = calls.map(signatureOf).toSorted().join(', ');
    this.#batches = [...this.#batches, { signature, at: now }].slice(-LAST);
    const same = this.#batches.filter((batch) => batch.signature === signature);
    if (this.#told || calls.length === 0 || same.length < REPETITIONS) return [];
    this.#told = true;
    const windowMs = now - (same[0]?.at ?? now);
    const pattern = cut(signature, PATTERN_CHARS);
    return [
      seen(
        `The same call was made ${same.length} times in the last ${this.#batches.length} steps, within ${plainDuration(windowMs)}: ${pattern}`,
        {
          type: 'agent.loop.detected',
          severity: 'warning',
          data: {
            pattern,
            repetitions: same.length,
            count: same.length,
            window_seconds: Math.round(windowMs / 100) / 10,
            suggestion: SUGGESTION,
          },
        },
      ),
    ];
  }
}

function signatureOf({ name, args }: Called): string {
  const given = typeof args === 'object' && args !== null && !Array.isArray(args) ? (args as Record<string, Json>) : {};
  const about = ABOUT.filter((key) => given[key] !== undefined);
  const shown =
    about.length > 0
      ? about.map((key) => `${key}: ${cut(text(given[key]), ARGUMENT_CHARS)}`).join(', ')
      : Object.keys(given).length > 0
        ? JSON.stringify(Object.fromEntries(Object.entries(given).toSorted(([a], [b]) => (a < b ? -1 : 1))))
        : '';
  return shown === '' ? name : `${name}(${shown})`;
}

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
