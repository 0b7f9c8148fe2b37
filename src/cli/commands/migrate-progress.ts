/**
 * Shows the progress of `earpiece migrate`: a bar on a terminal, a line every 5 s in a pipe, and one JSON object per line
 * with `--json`.
 */
import type { Phase } from '../../stores/moving/move.ts';

const WORDS: Readonly<Record<Phase, string>> = {
  check: 'checking the source',
  copy: 'copying',
  compare: 'comparing both',
  verify: 'checking the target',
};

const TERMINAL_EVERY_MS = 100;
const PIPE_EVERY_MS = 5_000;
const BAR = 24;

export type ProgressView = {
  readonly show: (phase: Phase, done: number, of: number) => void;
  /** Erases the progress line on a terminal. */
  readonly end: () => void;
};

/** Shows the progress on stderr, so that stdout contains only the result. */
export function progressOf(
  { json }: { readonly json: boolean },
  { stderr } = process,
  now = () => performance.now(),
): ProgressView {
  const isTerminal = stderr.isTTY && !json;
  let phase: Phase | undefined;
  let began = { at: 0, done: 0 };
  let shown = 0;
  return {
    show(next, done, of) {
      const at = now();
      if (next !== phase) {
        phase = next;
        began = { at, done };
        shown = Number.NEGATIVE_INFINITY;
      }
      if (at - shown < (isTerminal ? TERMINAL_EVERY_MS : PIPE_EVERY_MS) && done < of) return;
      shown = at;
      const perSecond = ((done - began.done) * 1_000) / Math.max(1, at - began.at);
      if (json) return void stderr.write(`${JSON.stringify({ phase, done, of, perSecond: Math.round(perSecond) })}\n`);
      const line = lineOf(WORDS[next], { done, of, perSecond });
      stderr.write(isTerminal ? `\r\u001B[K${line}` : `${line}\n`);
    },
    end() {
      if (isTerminal && phase !== undefined) stderr.write('\r\u001B[K');
    },
  };
}

type Speed = { readonly done: number; readonly of: number; readonly perSecond: number };

function lineOf(what: string, { done, of, perSecond }: Speed): string {
  const share = of === 0 ? 1 : Math.min(1, done / of);
  const full = Math.round(share * BAR);
  const bar = `${'█'.repeat(full)}${'░'.repeat(BAR - full)}`;
  const left = perSecond > 0 && done < of ? `, ${duration((of - done) / perSecond)} left` : '';
  const rate = perSecond >= 1 ? `  ${number(Math.round(perSecond))}/s` : '';
  return `${what} ${bar} ${Math.floor(share * 100)} %  ${number(done)} of ${number(of)}${rate}${left}`;
}

function duration(seconds: number): string {
  const s = Math.ceil(seconds);
  if (s < 60) return `${s} s`;
  return s < 3_600 ? `${Math.floor(s / 60)} min ${s % 60} s` : `${Math.floor(s / 3_600)} h ${Math.floor((s % 3_600) / 60)} min`;
}

const number = (n: number): string => n.toLocaleString('en');
