/**
 * Follows a program that runs in the person's terminal. A printed error stays open until a later build no longer prints the
 * error. All errors end if the program ends without an error, or if a person stops the program. After `unfollow`, the program
 * continues, and nothing more is reported.
 */
import { defined } from '../../core/defined.ts';
import type { Emitter } from '../../core/event.ts';
import { checksum } from '../../core/checksum.ts';
import { fault } from '../../core/faults.ts';
import {
  importStampIn,
  linesOf,
  OpenProblems,
  sayProblem,
  sourceIn,
  stampIn,
  type Matchers,
  type Open,
  type Problem,
} from '../problems/index.ts';
import type { Standing } from './follower.ts';
import { following, keepState, stateOf, type Followed, type Group, type State } from './list.ts';
import type { Surroundings } from './look-after.ts';
import { caughtUp, reportsOf, tell, tellEnd, UNHEARD } from './tell.ts';

/** The time to wait for more problems, so that problems that are printed together are reported together. */
const TOGETHER_MS = 300;
const SILENT_MS = 700;
/** The interval at which a report is tried again, because no agent was active or the store failed. */
const AGAIN_MS = 5_000;

export type Output = {
  readonly stdout: (chunk: Buffer) => void;
  readonly stderr: (chunk: Buffer) => void;
  /**
   * Records the end of the program. `well`: the program ended without an error, or a person stopped it, so no problem is open.
   * First reports the fixed problems. Then resolves to the open problems for the report of the exit; undefined if the program is
   * no longer followed.
   */
  readonly ended: (well: boolean) => Promise<Left | undefined>;
};

/** The open problems at the end: those that no report has named, and the number of those that were reported before. */
export type Left = { readonly fresh: readonly Problem[]; readonly reported: number };

/** `trouble` gets the error if the last report fails. `told` is called after each earlier report of found or fixed problems. */
type Listener = { readonly trouble: (error: Error) => void; readonly told?: () => void };

type Place = Pick<Surroundings, 'store' | 'now' | 'project'> & { readonly emitter: Emitter; readonly matchers: Matchers };

/** Follows the output of a program, and never throws. */
export function followOutput(place: Place, followed: Followed, on: Listener): Output {
  const problems = new OpenProblems(place.matchers.matchers, {
    rounds: place.matchers.rounds,
    stampOf: stampIn(folderOf(followed)),
    importStampOf: importStampIn(folderOf(followed)),
    sourceOf: sourceIn(folderOf(followed)),
  });
  const telling = new Telling(place, followed, on.told);
  let together: NodeJS.Timeout | undefined;
  let silent: NodeJS.Timeout | undefined;
  const standing = (): readonly Standing[] => [...problems.open()].map(([key, open]) => standingOf(followed, key, open));
  const say = (): Promise<unknown> => telling.tell(standing());
  const sayLater = (): void => void say().catch(() => {});
  const heard = (): void => {
    together ??= setTimeout(() => {
      together = undefined;
      sayLater();
    }, TOGETHER_MS);
    clearTimeout(silent);
    silent = setTimeout(() => {
      problems.silent();
      sayLater();
    }, SILENT_MS);
  };
  const streams = [linesOf((line) => problems.read(line)), linesOf((line) => problems.read(line))] as const;
  const again = setInterval(sayLater, AGAIN_MS);
  const write =
    (stream: (typeof streams)[number]) =>
    (chunk: Buffer): void => {
      stream.write(chunk);
      heard();
    };
  return {
    stdout: write(streams[0]),
    stderr: write(streams[1]),
    ended: async (well) => {
      clearTimeout(together);
      clearTimeout(silent);
      clearInterval(again);
      for (const stream of streams) stream.end();
      if (well) problems.clear();
      else problems.silent();
      const found = [...problems.open()];
      const reported = await telling.tell(standing(), true).catch((error: Error) => {
        on.trouble(error);
        return new Set<string>();
      });
      if (telling.isOver) return undefined;
      const fresh = found.filter(([key]) => !reported.has(checksum(key))).map(([, { problem }]) => problem);
      return { fresh, reported: found.length - fresh.length };
    },
  };
}

const folderOf = ({ what }: Followed): string => (what.kind === 'command' ? what.folder : '.');

/** Reports the open problems, one set after the other. */
class Telling {
  readonly #place: Place;
  readonly #group: Pick<Group, 'uid' | 'tos'>;
  readonly #onTold: () => void;
  #state: State | undefined;
  #said = '';
  #isOver = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor(place: Place, { uid, to }: Followed, onTold: () => void = () => undefined) {
    this.#place = place;
    this.#group = { uid, tos: [to] };
    this.#onTold = onTold;
  }

  /** Whether `unfollow` has ended the follower. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * Reports these problems. With `ending`, reports no new problem, and only withdraws the fixed problems. Resolves with the keys
   * of the reported open problems.
   */
  tell(standing: readonly Standing[], ending = false): Promise<ReadonlySet<string>> {
    const turn = this.#last.then(async () => {
      await this.#tell(standing, ending);
      return new Set(Object.keys(this.#state?.told ?? {}));
    });
    // If the store failed, the next report reads the state again.
    this.#last = turn.catch(() => void (this.#state = undefined));
    return turn;
  }

  async #tell(all: readonly Standing[], ending: boolean): Promise<void> {
    const { store, now } = this.#place;
    const { uid } = this.#group;
    if (await this.#ends()) return;
    const before = (this.#state ??= await caughtUp(this.#place, this.#group, begun(await stateOf(store, uid), now())));
    if (before === undefined) return;
    const standing = ending ? all.filter(({ key }) => before.told[key] !== undefined) : all;
    const wanted = JSON.stringify(standing.map(({ key, fingerprint }) => [key, fingerprint]));
    if (wanted === this.#said) return;
    const summary = standing.length === 0 ? 'no problems' : `${standing.length} open, last: ${standing.at(-1)?.message}`;
    const state: State = { turn: before.turn + 1, told: before.told, summary, lookedAt: now() };
    const reports = reportsOf(this.#group, before, { standing, news: [], whole: true });
    const { heard, ...told } = await tell(this.#place, this.#group, before, reports);
    const after: State = { ...state, ...told, ...(heard ? {} : { summary: UNHEARD }) };
    await keepState(store, uid, after);
    fault('follow.kept');
    this.#state = after;
    if (await this.#ends()) {
      // The follower ended while this report was written, so the end of the follower did not withdraw the report.
      await tellEnd(this.#group, after, this.#place.emitter);
      await keepState(store, uid, undefined);
      return;
    }
    if (!heard) return;
    this.#said = wanted;
    if (!ending && reports.length > 0) this.#onTold();
  }

  /** Whether this follower has ended. A later run of the same command with the same uid does not change the result. */
  async #ends(): Promise<boolean> {
    const { store, project } = this.#place;
    this.#isOver ||= !(await following(store, project)).some(({ uid }) => uid === this.#group.uid);
    return this.#isOver;
  }
}

/**
 * Returns the state. In a new state, `turn` begins with the time. A run that left nothing open has removed its state, and the
 * next run of the command has the same uid. If `turn` began with 0, the reports would have the ids of an earlier run, and the
 * store would drop these reports.
 */
const begun = (state: State, now: number): State => (state.turn === 0 ? { ...state, turn: now } : state);

function standingOf({ what }: Followed, key: string, { problem, count }: Open): Standing {
  const command = what.kind === 'command' ? what.command : '';
  const { tool, file, line, column, code, test, message } = problem;
  const fingerprint = checksum(key);
  return {
    key: fingerprint,
    fingerprint,
    type: 'problem.found',
    severity: 'error',
    message: `${sayProblem(problem)}${count > 1 ? ` (${count} times)` : ''}`,
    data: {
      command,
      tool,
      problem: message,
      ...defined({ file, line, column, code, test }),
    },
  };
}
