/**
 * Makes the live rows below the printed rows: the current text, calls and thoughts, waiting notifications and messages, and the
 * status.
 */
import type { Item } from '../../core/items.ts';
import { cut } from '../table.ts';
import { nameOf, paint, plain } from '../terminal.ts';
import type { Driver } from './driver.ts';
import { callLine, pendingLine, seconds } from './lines.ts';
import type { LiveSurface } from './live-surface.ts';
import type { Narrator } from './narrator.ts';
import type { Session } from './session.ts';
import { safe } from './wrap.ts';

const PENDING_ROWS = 5;
const RUNNING_ROWS = 6;

export type RowsOptions = {
  readonly session: Session;
  readonly surface: LiveSurface;
  readonly narrator: Narrator;
  readonly driver: Driver;
};

/** The state of the turn, according to the keys of the person and the events of the agent. */
export type TurnState = {
  readonly pending: readonly Item[];
  /** Whether a person has stopped the turn and the turn has not ended yet. */
  readonly stopping: boolean;
  /**
   * The person who paused the agent. Empty if the pause names no person; undefined if the agent is not paused, or still runs a
   * turn.
   */
  readonly pausedBy: string | undefined;
  /** When the turn began, by the monotonic clock. */
  readonly since: number;
  readonly writes: 'nothing' | 'thoughts' | 'words';
};

export class LiveRows {
  readonly #session: Session;
  readonly #surface: LiveSurface;
  readonly #narrator: Narrator;
  readonly #driver: Driver;

  constructor({ session, surface, narrator, driver }: RowsOptions) {
    this.#session = session;
    this.#surface = surface;
    this.#narrator = narrator;
    this.#driver = driver;
  }

  at(turn: TurnState, width: number): string[] {
    return [...this.#moving(width), ...this.#waits(turn.pending, width), ...this.#status(turn, width)];
  }

  /** Returns the rows of the current text, thought and calls. */
  #moving(width: number): string[] {
    const now = performance.now();
    const running = this.#narrator.running.slice(0, RUNNING_ROWS).map((call) => {
      const tail = ` ${paint('dim', `· ${seconds(now - call.since)}${call.progress === '' ? '' : ` · ${call.progress}`}`)}`;
      return cut(`${callLine(call, Math.floor(width * 0.7))}${tail}`, width);
    });
    const thought = this.#narrator.thought.trim().replaceAll(/\s+/gu, ' ');
    return [
      ...(this.#surface.open === '' ? [] : [this.#surface.open]),
      ...(thought === '' ? [] : ['', cut(paint('dim', `∴ ${ending(safe(thought), width - 4)}`), width)]),
      ...(running.length === 0 || this.#narrator.amongCalls ? running : ['', ...running]),
    ];
  }

  /** Returns the rows of notifications that wait for a carrier, and of messages that wait for their turn. */
  #waits(pending: readonly Item[], width: number): string[] {
    const now = this.#session.ear.store.now();
    const shown = pending.slice(0, PENDING_ROWS);
    const left = pending.length - shown.length;
    const rows = [
      ...shown.map(({ notification, count, at }) => pendingLine({ ...notification, count }, width, `waits ${seconds(now - at)}`)),
      ...(left > 0
        ? [
            cut(
              `${paint('yellow', '┆')} ${paint('dim', `and ${left} more ${left === 1 ? 'notification' : 'notifications'}: /pending`)}`,
              width,
            ),
          ]
        : []),
      ...this.#driver.waiting.map((text) => cut(paint('dim', `› ${plain(text)} · waits for its turn`), width)),
    ];
    return rows.length === 0 ? [] : ['', ...rows];
  }

  #status(turn: TurnState, width: number): string[] {
    const background = this.#session.handles.map(
      ({ id, state, elapsedMs }) => `${nameOf(id, 30)} ${state === 'waiting' ? 'asks' : seconds(elapsedMs)}`,
    );
    const behind = background.length === 0 ? [] : [`in the background: ${background.join(', ')}`];
    const parts = this.#driver.busy
      ? [this.#doing(turn), seconds(performance.now() - turn.since), ...behind, 'Ctrl+C interrupts']
      : [...(turn.pausedBy === undefined ? [] : [this.#pause(turn.pausedBy)]), ...behind];
    if (parts.length === 0) return turn.pending.length > 0 ? [] : [''];
    return ['', cut(`${paint(this.#driver.busy ? 'green' : 'dim', '●')} ${paint('dim', parts.join(' · '))}`, width)];
  }

  #pause(person: string): string {
    const by = person === '' ? '' : ` by ${nameOf(person, 40)}`;
    return `paused${by}; to resume: earpiece send --to ${this.#session.agent.conversation.log} --action resume "…"`;
  }

  #doing({ stopping, writes }: TurnState): string {
    if (stopping) return 'stopping';
    const { mode } = this.#session.agent;
    const { running } = this.#narrator;
    if (mode === 'continuing') return 'stopping the turn';
    if (running.length > 0) return running.length === 1 ? 'running a tool' : `running ${running.length} tools`;
    return { nothing: 'waiting for the model', thoughts: 'thinking', words: 'writing' }[writes];
  }
}

/** Returns at most the last `chars` characters of a text. An ellipsis replaces the part that is cut off. */
const ending = (text: string, chars: number): string => {
  const points = [...text];
  return points.length <= chars ? text : `…${points.slice(-(chars - 1)).join('')}`;
};
