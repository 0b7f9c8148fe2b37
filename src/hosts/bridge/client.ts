/**
 * Connects a plugin to its bridge. This code runs inside the agent, on Node or Bun. No failure of the bridge stops the agent. If
 * no answer arrives in time, the agent continues.
 *
 *   down ──the plugin asks or tells, or the delay ends──▶ starting ──the bridge is ready──▶ up
 *   starting, up ──the bridge ends, or does not answer──▶ down, with a delay that doubles
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { defined } from '../../core/defined.ts';
import type { Moment } from '../moment.ts';
import { lines, type FromBridge, type FromPlugin, type Push, type Reply, type Whose } from './protocol.ts';

export type BridgeCommand = {
  /** The absolute paths of Earpiece's Node and command line. */
  readonly node: string;
  readonly entry: string;
  readonly args?: readonly string[];
};

export type ClientOptions = {
  readonly command: BridgeCommand;
  readonly host: string;
  readonly folder: string;
  /** Shows a line to the person, if the host can. */
  readonly say: (line: string) => void;
  readonly wake: (push: Handed & { readonly session: string }) => void;
  readonly force: (push: Handed & { readonly session: string }) => void;
  readonly show: (text: string) => void;
  /** Called each time a bridge has started and knows the state of each session. */
  readonly began?: () => void;
};

/** A text for the model. Call exactly one of `confirm` and `release`. */
export type Handed = {
  readonly kind: 'tell' | 'deny' | 'hold';
  readonly text: string;
  /** Identifies the lease of this text in the host's transcript. */
  readonly carrier?: string;
  confirm(evidence?: string): void;
  release(): void;
};

/** `askedAt`: epoch ms. */
type Overdue = { readonly of: string; readonly whose: Whose; readonly moment: Moment; readonly askedAt: number };

/** How long the agent waits for an answer, and for the first answer of a bridge that has just started. */
const ANSWER_WITHIN_MS = 250;
const START_WITHIN_MS = 2_000;
/** How long a bridge may take until it is ready. A slower bridge counts as hanging and is killed. */
const READY_WITHIN_MS = 15_000;
const STEPS = 5;
const PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 60_000;
/**
 * The limits at which a bridge counts as hanging: unanswered questions since its last line, and the time since the first of them
 * was overdue.
 */
const HANGS_AFTER = 3;
const HANGS_AFTER_MS = 5_000;
const GATE_UP =
  'Not run: an interrupt waits for you. Earpiece could not show the interrupt in time; call a tool again to read the interrupt.';

export class BridgeClient {
  readonly #options: ClientOptions;
  #child: ChildProcess | undefined;
  #ready = false;
  /** Whether the current bridge process has answered a question. */
  #warm = false;
  #generation = 0;
  #ids = 0;
  #pauseMs = PAUSE_MS;
  #unanswered = 0;
  /** The time at which the first unanswered question since the bridge's last line reached its time limit. */
  #silentSince = 0;
  #closed = false;
  #timer: NodeJS.Timeout | undefined;
  #startedAt = 0;
  #starting: (() => void)[] = [];
  readonly #asked = new Map<number, (reply: Reply | undefined) => void>();
  /** Questions that had no answer in time. If a late answer has a text, the next question of this kind gets the text. */
  readonly #overdue = new Map<number, Overdue>();
  /**
   * Texts of late answers. `until`: the earliest end of the text's lease, in epoch ms. After the lease, any carrier may take the
   * notifications.
   */
  readonly #late = new Map<string, Handed & { readonly until: number }>();
  readonly #gates = new Set<string>();
  /** The state of each session, which a new bridge process needs. */
  readonly #states = new Map<string, Extract<FromPlugin, { do: 'state' }>>();
  readonly #said = new Set<string>();

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** Starts the bridge. Does nothing while a bridge runs, during the delay after a failure, or after `close`. */
  start(): void {
    if (this.#child !== undefined || this.#timer !== undefined || this.#closed) return;
    const generation = ++this.#generation;
    let child: ChildProcess;
    try {
      child = this.#spawned();
    } catch (error) {
      // Some runtimes throw here, and emit no event.
      this.#later(`cannot be started (${error instanceof Error ? error.message : String(error)})`);
      return;
    }
    this.#child = child;
    this.#startedAt = performance.now();
    setTimeout(() => {
      if (generation === this.#generation && !this.#ready) child.kill('SIGKILL');
    }, READY_WITHIN_MS).unref();
    child.on('error', (error) => this.#ended(generation, `cannot be started (${error.message})`));
    child.on('exit', (code, signal) => this.#ended(generation, `ended (${signal ?? `exit code ${code}`})`));
    child.stdin?.on('error', () => {});
    const feed = lines(
      (line) => this.#handle(generation, line as unknown as FromBridge),
      () => {},
    );
    child.stdout?.setEncoding('utf8').on('data', feed);
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk;
      for (let end = stderr.indexOf('\n'); end >= 0; end = stderr.indexOf('\n')) {
        this.#sayOnce(stderr.slice(0, end));
        stderr = stderr.slice(end + 1);
      }
    });
    // The agent may exit when it has no work. The bridge process must not keep the agent alive.
    child.unref();
    for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as { unref?: () => void } | null)?.unref?.();
  }

  #spawned(): ChildProcess {
    const { command, host, folder } = this.#options;
    return spawn(command.node, [command.entry, 'bridge', host, ...(command.args ?? [])], {
      cwd: folder,
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
  }

  /**
   * Asks the bridge for the text that the model reads at this moment; undefined if no text arrives in time. If the last known
   * state of the gate is up, a call is denied even without an answer.
   */
  async ask(whose: Whose, moment: Moment): Promise<Handed | undefined> {
    this.#note(whose, moment);
    this.start();
    await this.#untilReady();
    const of = `${moment.kind} ${whose.session} ${whose.subagent ?? ''}`;
    const late = this.#late.get(of);
    this.#late.delete(of);
    if (late !== undefined && Date.now() < late.until) return late;
    late?.release();
    const askedAt = Date.now();
    const id = ++this.#ids;
    const generation = this.#generation;
    const reply = this.#ready ? await this.#answered(id, { do: 'ask', id, moment, ...whose }) : undefined;
    if (reply === undefined) {
      if (this.#ready) this.#overdue.set(id, { of, whose, moment, askedAt });
      if (moment.kind !== 'before_tool' || !this.#gates.has(whose.session)) return undefined;
      return { kind: 'deny', text: GATE_UP, confirm: () => {}, release: () => {} };
    }
    const { kind, text, carrier } = reply;
    if (moment.kind === 'before_tool') this.#gateIs(whose.session, kind === 'deny');
    if (kind === 'nothing' || text === undefined) return undefined;
    return { kind, text, ...defined({ carrier }), ...this.#settling(id, generation, whose, carrier) };
  }

  tell(line: Extract<FromPlugin, { do: 'state' | 'seen' }>): void {
    if (line.do === 'state') this.#states.set(line.session, line);
    this.start();
    this.#write(line);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const late of this.#late.values()) late.release();
    this.#child?.stdin?.end();
    this.#letGo();
  }

  /** Records the state that a session has after this moment. */
  #note(whose: Whose, { kind }: Moment): void {
    if (whose.subagent !== undefined) return;
    if (kind === 'session_end') this.#states.delete(whose.session);
    if (kind === 'asked' || kind === 'before_tool')
      this.#states.set(whose.session, { do: 'state', state: kind === 'asked' ? 'asking' : 'working', ...whose });
  }

  #settling(id: number, generation: number, whose: Whose, carrier: string | undefined): Pick<Handed, 'confirm' | 'release'> {
    let done = false;
    return {
      confirm: (evidence) => {
        if (done) return;
        done = true;
        if (generation === this.#generation && this.#ready) this.#write({ do: 'confirm', id, ...defined({ evidence }) });
        else if (carrier !== undefined && evidence !== undefined) this.#write({ do: 'seen', carrier, evidence, ...whose });
      },
      release: () => {
        if (done) return;
        done = true;
        if (generation === this.#generation) this.#write({ do: 'release', id });
      },
    };
  }

  #write(line: FromPlugin): void {
    if (this.#ready) this.#child?.stdin?.write(`${JSON.stringify(line)}\n`);
  }

  #handle(generation: number, line: FromBridge): void {
    if (generation !== this.#generation) return;
    if ('ready' in line) {
      this.#ready = true;
      for (const state of this.#states.values()) this.#write(state);
      this.#options.began?.();
      this.#letGo();
      return;
    }
    this.#unanswered = 0;
    if ('re' in line) {
      const finish = this.#asked.get(line.re);
      if (finish === undefined) this.#cameLate(generation, line);
      else finish(line);
      return;
    }
    this.#pushed(generation, line);
  }

  /**
   * Keeps the text of a late answer for the next question of this kind. Otherwise, an agent would never get an answer that takes
   * longer than the time limit.
   */
  #cameLate(generation: number, { re: id, kind, text, carrier, leaseMs = 0 }: Reply): void {
    const overdue = this.#overdue.get(id);
    this.#overdue.delete(id);
    if (overdue === undefined) return;
    const { of, whose, moment, askedAt } = overdue;
    if (moment.kind === 'before_tool') this.#gateIs(whose.session, kind === 'deny');
    if (kind === 'tell' && text !== undefined && !this.#late.has(of))
      this.#late.set(of, {
        kind,
        text,
        until: askedAt + leaseMs,
        ...defined({ carrier }),
        ...this.#settling(id, generation, whose, carrier),
      });
    else this.#write({ do: 'release', id });
  }

  #pushed(generation: number, push: Push): void {
    switch (push.push) {
      case 'gate':
        this.#gateIs(push.session, push.up);
        return;
      case 'show':
        this.#options.show(push.text);
        return;
      case 'wake':
      case 'force': {
        const { id, session, text, carrier } = push;
        const { folder } = this.#options;
        this.#options[push.push]({
          kind: 'tell',
          session,
          text,
          ...defined({ carrier }),
          ...this.#settling(id, generation, { session, folder }, carrier),
        });
        return;
      }
      default:
        push satisfies never;
    }
  }

  #gateIs(session: string, up: boolean): void {
    if (up) this.#gates.add(session);
    else this.#gates.delete(session);
  }

  #answered(id: number, line: FromPlugin): Promise<Reply | undefined> {
    return new Promise((resolve) => {
      let steps = 0;
      // A bridge that has just started must open the store before its first answer.
      const withinMs = this.#warm ? ANSWER_WITHIN_MS : START_WITHIN_MS;
      // The time limit counts steps of a timer. If this process was suspended, the answer may have arrived unread, so the
      // suspended time must not count.
      const timer = setInterval(() => {
        if (++steps < STEPS) return;
        finish(undefined);
        if (++this.#unanswered === 1) this.#silentSince = performance.now();
        const silentMs = performance.now() - this.#silentSince;
        if (this.#unanswered >= HANGS_AFTER && silentMs >= HANGS_AFTER_MS) this.#child?.kill('SIGKILL');
        this.#sayOnce(`earpiece did not answer within ${withinMs} ms; the agent continues, and waiting notifications stay open`);
      }, withinMs / STEPS);
      const finish = (reply: Reply | undefined): void => {
        clearInterval(timer);
        this.#asked.delete(id);
        if (reply !== undefined) {
          this.#warm = true;
          this.#pauseMs = PAUSE_MS;
        }
        resolve(reply);
      };
      this.#asked.set(id, finish);
      this.#write(line);
    });
  }

  async #untilReady(): Promise<void> {
    const leftMs = this.#startedAt + START_WITHIN_MS - performance.now();
    if (this.#ready || this.#child === undefined || leftMs <= 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, leftMs);
      this.#starting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #letGo(): void {
    for (const go of this.#starting.splice(0)) go();
  }

  #ended(generation: number, how: string): void {
    if (generation !== this.#generation || this.#child === undefined) return;
    this.#child = undefined;
    this.#ready = false;
    this.#warm = false;
    this.#unanswered = 0;
    this.#overdue.clear();
    this.#late.clear();
    for (const finish of this.#asked.values()) finish(undefined);
    this.#letGo();
    if (!this.#closed) this.#later(how);
  }

  #later(how: string): void {
    this.#sayOnce(`the bridge ${how}; the agent continues without notifications, and the bridge is started again`);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.start();
    }, this.#pauseMs);
    this.#timer.unref();
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }

  /** Reports a continuing problem only once. */
  #sayOnce(line: string): void {
    const clean = line.replace(/^earpiece: /, '').trim();
    if (clean === '' || this.#said.has(clean)) return;
    this.#said.add(clean);
    this.#options.say(`earpiece: ${clean}`);
  }
}
