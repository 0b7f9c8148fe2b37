/** Makes an emitter that keeps its events, for which a test can wait. */
import { makeEvent, type Emitter, type Event } from '../../src/core/event.ts';

export type Recorder = Emitter & {
  readonly events: Event[];
  readonly troubles: string[];
  readonly onTrouble: (line: string) => void;
  /** `type path` or `type to` of each event, or only its type. */
  readonly lines: () => string[];
  /** Resolves with the first matching event from index `from` on (default 0). */
  readonly until: (is: string | ((event: Event) => boolean), from?: number) => Promise<Event>;
  /** Resolves when this many events have been emitted, counted from the start. */
  readonly count: (events: number) => Promise<void>;
  /** Runs before each emit. An error of this function is the error of the emit. */
  before: () => Promise<void> | void;
};

export function recorder(withinMs = 20_000): Recorder {
  const events: Event[] = [];
  const troubles: string[] = [];
  const waiting = new Set<() => void>();
  const line = ({ type, data: { path, to } }: Event): string =>
    [type, ...[path, to].filter((name) => typeof name === 'string')].join(' ');
  const lines = (): string[] => events.map(line);
  const changed = <T>(of: () => T | undefined, what: string): Promise<T> => {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const timer = setTimeout(() => {
      waiting.delete(ask);
      reject(new Error(`no ${what} within ${withinMs} ms; there is ${JSON.stringify(lines())}; trouble: ${troubles.join('; ')}`));
    }, withinMs);
    const ask = (): void => {
      const found = of();
      if (found === undefined) return;
      waiting.delete(ask);
      clearTimeout(timer);
      resolve(found);
    };
    waiting.add(ask);
    ask();
    return promise;
  };
  const self: Recorder = {
    events,
    troubles,
    onTrouble: (trouble) => {
      troubles.push(trouble);
      for (const ask of waiting) ask();
    },
    lines,
    before: () => {},
    emit: async (input) => {
      await self.before();
      const event = makeEvent(input, { id: `e${events.length}`, now: Date.now() });
      events.push(event);
      for (const ask of waiting) ask();
      return { event, heard: [] };
    },
    until: (is, from = 0) =>
      changed(
        () => events.slice(from).find((event) => (typeof is === 'string' ? line(event) === is : is(event))),
        typeof is === 'string' ? is : 'such event',
      ),
    count: async (count) => void (await changed(() => (events.length >= count ? true : undefined), `${count}th event`)),
  };
  return self;
}
