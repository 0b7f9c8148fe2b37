/**
 * Runs the producers of notifications, over the command line and the HTTP API. Each producer records its requests and answers.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Chance } from './chance.ts';
import type { ProducerLine } from './history.ts';
import { Journal, now } from './journal.ts';
import type { Quiet } from './quiet.ts';
import type { Window } from './windows.ts';
import type { Project, World } from './world.ts';

/** The fault points at which a command is killed, each with the number of the pass. */
const SEND_POINTS = [
  'queue.checked:1',
  'append.begun:1',
  'append.record_written:1',
  'append.items_written:1',
  'append.committed:1',
  'queue.acknowledged:1',
  'fan_out.intent:1',
  'fan_out.queued:1',
  'fan_out.queued:2',
];

type Sending = {
  readonly nonce: string;
  readonly to: string;
  readonly level: 'info' | 'warning' | 'error' | 'critical';
  readonly action?: 'pause' | 'cancel';
  readonly key?: string;
  readonly ttlMs?: number;
};

export type Told = { readonly nonce: string; readonly acknowledged: boolean };

export type ProducersOptions = {
  readonly world: World;
  readonly project: Project;
  readonly windows: readonly Window[];
  /** Agents in addition to the agents of the windows. */
  readonly others: readonly string[];
  readonly seed: string;
  readonly over: AbortSignal;
  /** The server's current URL, and an administrator's token. */
  readonly server?: () => { readonly url: string; readonly token: string } | undefined;
  /** Whether the product has `earpiece resume`. */
  readonly resumes: boolean;
  readonly quiet: Quiet;
};

export class Producer {
  readonly #options: ProducersOptions;
  readonly #chance: Chance;
  readonly #said: Journal<ProducerLine>;
  /** The number of answers that confirmed a queued notification. */
  acknowledged = 0;
  /** The due time of the producer's last reminder, in milliseconds since 1970. */
  dueBy = 0;
  /** Notifications sent to one agent, for a withdrawal. */
  #recent: Sending[] = [];

  constructor(options: ProducersOptions) {
    this.#options = options;
    this.#chance = new Chance(`${options.seed} producer ${options.project} ${options.server === undefined ? 'command' : 'http'}`);
    this.#said = new Journal(
      options.world.tap('said', `${options.project}-${options.server === undefined ? 'command' : 'http'}`),
    );
  }

  async live(): Promise<void> {
    while (!this.#options.over.aborted) {
      if (!this.#options.quiet.isFor(this)) {
        await sleep(100);
        continue;
      }
      const deed = this.#chance.weighed({
        send: 46,
        broadcast: 8,
        quiet: 4,
        critical: 8,
        cancel: 4,
        pause: 7,
        pauses: 4,
        standing: 4,
        supersede: 2,
        states: 7,
        expiring: 6,
        remind: 3,
        withdraw: 7,
        look: 3,
      });
      await this.#do(deed);
      await sleep(this.#chance.between(40, 260));
    }
  }

  async #do(deed: string): Promise<unknown> {
    const { project } = this.#options;
    switch (deed) {
      case 'broadcast':
        return this.#send({ ...this.#sending(), to: `${project}/*` });
      case 'quiet': {
        const { quiet, windows } = this.#options;
        const two = windows.filter(({ agent }) => windows.filter((other) => other.agent === agent).length > 1);
        if (two.length === 0 || quiet.isOn) return;
        quiet.ask(this, 15_000);
        for (const until = now() + 8_000; now() < until && !two.every(({ isAtWork }) => isAtWork);) await sleep(100);
        await sleep(300);
        await this.#send({ ...this.#sending(), to: `${project}/*` }, false);
        await sleep(this.#chance.between(600, 1_500));
        return quiet.end(this);
      }
      case 'expiring': {
        const level = this.#chance.of(0.15) ? 'critical' : 'error';
        return this.#send({ ...this.#sending(), level, ttlMs: this.#chance.pick([500, 1_000, 2_000]) });
      }
      case 'critical':
        return this.#send({ ...this.#sending(), level: 'critical' });
      case 'cancel':
        return this.#send({ ...this.#sending(), level: 'warning', action: 'cancel' });
      case 'supersede': {
        // Each address has a separate key, because conversations of one agent may merge. After a merge, only the newest
        // notification of a key counts.
        const sending = this.#sending();
        return this.#send({ ...sending, key: `${this.#chance.pick(['a', 'b'])}-${sending.to.replaceAll(/\W/g, '-')}` });
      }
      case 'states': {
        // The producer queues two or three states of one key in quick succession, for few addresses. Often, the older
        // state was not yet shown.
        const to = this.#chance.pick(this.#options.windows.slice(0, 2)).agent;
        const key = `c-${this.#options.server === undefined ? 'command' : 'http'}-${to.replaceAll(/\W/g, '-')}`;
        for (let left = this.#chance.between(2, 3); left > 0; left--) await this.#send({ ...this.#sending(), to, key }, false);
        return;
      }
      case 'pause':
        return this.#pause();
      case 'pauses':
        return this.#pause(true);
      case 'standing':
        return this.#standing();
      case 'remind':
        return this.#remind();
      case 'withdraw':
        return this.#withdraw();
      case 'look':
        return this.#options.world.run(project, [this.#chance.pick(['inbox', 'agents', 'log', 'doctor'])], {
          killAfterMs: this.#killAfter(0.5),
        });
      default:
        return this.#send(this.#sending());
    }
  }

  #sending(): Sending {
    const { project, windows, others } = this.#options;
    const named = windows.flatMap(({ agent, conversation }) => (conversation === undefined ? [] : [`${agent}#${conversation}`]));
    const agents = [...new Set(windows.map(({ agent }) => agent))];
    const to = this.#chance.of(0.35) && named.length > 0 ? this.#chance.pick(named) : this.#chance.pick([...agents, ...others]);
    // A budget summarizes notifications below error. The lab's budget is large enough for all these notifications.
    const level = project === 'lab' ? this.#chance.pick(['info', 'warning', 'error'] as const) : 'error';
    return { nonce: `nonce-${this.#chance.hex()}`, to, level };
  }

  /**
   * Queues a notification. Returns true if the notification was acknowledged. A producer without an answer usually repeats the
   * request with the same id.
   */
  async #send(sending: Sending, mayDie = true): Promise<boolean> {
    const { nonce, to, level, action, key, ttlMs } = sending;
    this.#said.write({
      t: now(),
      kind: 'asking',
      nonce,
      to,
      level,
      text: messageOf(sending),
      ...(action === undefined ? {} : { action }),
      ...(key === undefined ? {} : { supersedes: key }),
      ...(ttlMs === undefined ? {} : { ttlMs }),
    });
    for (let tries = 0; tries < 4; tries++) {
      const answered = await (this.#options.server === undefined
        ? this.#byCommand(sending, mayDie && tries === 0)
        : this.#byHttp(sending));
      if (answered === 'acknowledged') {
        this.#said.write({ t: now(), kind: 'acknowledged', nonce });
        this.acknowledged++;
        if (!to.endsWith('/*') && action === undefined && key === undefined && ttlMs === undefined) this.#recent.push(sending);
        return true;
      }
      if (answered === 'refused' || !this.#chance.of(0.75)) return false;
      await sleep(150);
    }
    return false;
  }

  async #byCommand(sending: Sending, mayDie: boolean): Promise<'acknowledged' | 'unheard' | 'refused'> {
    const { nonce, to, level, action, key, ttlMs } = sending;
    const args = ['send', '--to', to, '--id', nonce, '--kind', 'storm.word', messageOf(sending)];
    if (action === undefined) args.push('--level', level);
    else args.push('--action', action);
    if (key !== undefined) args.push('--key', key, '--supersede');
    if (ttlMs !== undefined) args.push('--ttl', `${ttlMs}ms`);
    const point = mayDie && this.#chance.of(0.12) ? this.#chance.pick(SEND_POINTS) : undefined;
    const { code, stderr } = await this.#options.world.run(this.#options.project, args, {
      point,
      killAfterMs: mayDie ? this.#killAfter(0.15) : undefined,
    });
    if (code === 0) return 'acknowledged';
    if (code === null || code === 6) return 'unheard';
    if (code !== 5) this.#options.world.problem(`earpiece ${args.join(' ')} ended with ${code}: ${stderr.slice(0, 300)}`);
    return 'refused';
  }

  async #byHttp(sending: Sending): Promise<'acknowledged' | 'unheard' | 'refused'> {
    const server = this.#options.server?.();
    if (server === undefined) return 'unheard';
    const { nonce: id, to, level, action, key, ttlMs } = sending;
    const body = {
      id,
      to,
      kind: 'storm.word',
      message: messageOf(sending),
      ...(action === undefined ? { level } : { action }),
      ...(key === undefined ? {} : { key, supersede: true }),
      ...(ttlMs === undefined ? {} : { ttlMs }),
    };
    try {
      const answer = await fetch(`${server.url}/api/notifications`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${server.token}` },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(20_000),
      });
      const text = await answer.text();
      if (answer.ok) return 'acknowledged';
      if (answer.status >= 500) return 'unheard';
      if (!text.includes('nobody'))
        this.#options.world.problem(`POST /api/notifications answered ${answer.status}: ${text.slice(0, 300)}`);
      return 'refused';
    } catch {
      return 'unheard';
    }
  }

  /**
   * Pauses one window, or sometimes the project, for a while, and then lifts the pause as a person. With `another`, a second
   * pause is in force in addition to the first.
   */
  async #pause(another = false): Promise<void> {
    const { windows, project } = this.#options;
    const of = this.#chance.pick(windows);
    const to = this.#chance.of(another ? 0.1 : 0.2) ? `${project}/*` : of.address;
    const pause = await this.pause(to);
    await sleep(this.#chance.between(300, another ? 900 : 2_500));
    if (another) {
      await this.pause(to);
      await sleep(this.#chance.between(100, 600));
      if (this.#chance.of(0.6)) await this.takeBack(pause.nonce);
      await sleep(this.#chance.between(300, 1_500));
    }
    await this.resume(to);
  }

  /** Sends a critical notification to all agents, which applies to each session that starts before the withdrawal. */
  async #standing(): Promise<void> {
    const { nonce } = await this.tell(`${this.#options.project}/*`, { level: 'critical' });
    const told = now();
    const hasCome = (): boolean => this.#options.windows.some(({ workingSince }) => workingSince > told);
    for (const until = told + 12_000; now() < until && !hasCome();) await sleep(100);
    await sleep(this.#chance.between(0, 1_000));
    for (let tries = 0; tries < 4 && !(await this.takeBack(nonce)); tries++);
  }

  pause(to: string): Promise<Told> {
    return this.tell(to, { action: 'pause' });
  }

  async tell(to: string, as: Partial<Pick<Sending, 'level' | 'action'>> = {}): Promise<Told> {
    const nonce = `nonce-${this.#chance.hex()}`;
    return { nonce, acknowledged: await this.#send({ nonce, to, level: 'error', ...as }) };
  }

  async resume(to: string): Promise<void> {
    const { world, project, resumes } = this.#options;
    const args = resumes ? ['resume', to] : ['send', '--to', to, '--action', 'resume', 'go on'];
    this.#said.write({ t: now(), kind: 'resuming', to });
    for (let tries = 0; tries < 4; tries++) {
      const { code, stderr } = await world.run(project, args, { killAfterMs: tries === 0 ? this.#killAfter(0.1) : undefined });
      if (code === null || code === 6) continue;
      if (code !== 0 && code !== 5) world.problem(`earpiece ${args.join(' ')} ended with ${code}: ${stderr.slice(0, 300)}`);
      break;
    }
    this.#said.write({ t: now(), kind: 'resumed', to });
  }

  async #remind(): Promise<void> {
    const { world, project, windows } = this.#options;
    const nonce = `nonce-${this.#chance.hex()}`;
    const to = this.#chance.pick(windows).agent;
    const inSeconds = this.#chance.between(2, 8);
    // The product may count the delay from any moment of the command.
    const notBefore = Date.now() + inSeconds * 1_000 - 1_000;
    this.#said.write({ t: now(), kind: 'asking', nonce, to, level: 'info', notBefore });
    const { code } = await world.run(project, [
      'remind',
      `in ${inSeconds} seconds`,
      `look at it, ${nonce}`,
      '--to',
      to,
      '--level',
      'error',
    ]);
    // The command has computed the due time before it ended, so the reminder is due at this time at the latest.
    this.dueBy = Date.now() + inSeconds * 1_000;
    if (code === 0) this.#said.write({ t: now(), kind: 'acknowledged', nonce });
  }

  async #withdraw(): Promise<void> {
    const one = this.#recent.pop();
    this.#recent = this.#recent.slice(-5);
    if (one !== undefined) await this.takeBack(one.nonce);
  }

  /** Withdraws a notification. Returns true if the command has answered. */
  async takeBack(nonce: string): Promise<boolean> {
    const { world, project } = this.#options;
    this.#said.write({ t: now(), kind: 'withdrawing', nonce });
    const { code, stdout } = await world.run(project, ['withdraw', nonce, '--json'], { killAfterMs: this.#killAfter(0.2) });
    if (code === null) return false;
    const results = stdout
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { result: string; log: string });
    for (const { result, log } of results) this.#said.write({ t: now(), kind: 'withdrawn', nonce, result, log });
    return true;
  }

  #killAfter(probability: number): number | undefined {
    return this.#chance.of(probability) ? this.#chance.between(60, 900) : undefined;
  }
}

const messageOf = ({ nonce, to }: Sending): string => `word for ${to.replace(/[#*]/g, ' ')}, ${nonce}`;
