/** Runs a window: one person's conversation with an agent, over all of its kills, resumes and `/clear`s. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Chance } from './chance.ts';
import { now } from './journal.ts';
import type { Answered, Did, Wish } from './orders.ts';
import { GATEWAY_POINTS } from './points.ts';
import type { Producer } from './producers.ts';
import type { Quiet } from './quiet.ts';
import type { ToolName } from './tools.ts';
import type { Host, Project, World } from './world.ts';

/** The URL and the process of an HTTP gateway. */
export type Front = { readonly url: string; readonly pid: number };

export type WindowOptions = {
  readonly name: string;
  readonly project: Project;
  /** The agent's name, without its project. */
  readonly agent: string;
  /** The name of the host's process. */
  readonly program: 'claude' | 'codex' | 'qwen' | 'opencode' | 'relay';
  /** The client's name for itself. */
  readonly client: string;
  /** The environment variable in which the host names its conversation. */
  readonly variable?: string;
  readonly servers?: 1 | 2;
  /** The window's first actions, so that a short storm also reaches their moments. */
  readonly overture?: readonly string[];
  /** Returns the current HTTP gateway. With this function, the window is a client over HTTP. */
  readonly url?: () => Front | undefined;
};

const TOOLS: Readonly<Record<ToolName, number>> = {
  small: 50,
  failing: 10,
  structured: 12,
  forged: 6,
  empty: 5,
  middle: 5,
  failing_long: 4,
  big: 3,
};

export class Window {
  readonly options: WindowOptions;
  readonly #world: World;
  readonly #chance: Chance;
  readonly #over: AbortSignal;
  readonly #overture: string[];
  /** The remaining retries of first actions that a busy machine or a kill has prevented. */
  #retries = 12;
  #cameToIt = true;
  #openedAt = 0;
  /** The time at which the window's newest session with an answer started. */
  workingSince = 0;
  #host: Host | undefined;
  #sessions = 0;
  #calls = 0;
  /** The host's name for its session, even before the session has an answer. */
  #named: string | undefined;
  /** The newest name under which a session has answered, if the host has one. */
  conversation: string | undefined;
  /** Whether the window does not read now, so that a kill of its host would lose bytes that the gateway has written. */
  isDeaf = false;
  quiet: Quiet | undefined;
  /** Whether the window works in the current quiet time: see `Quiet`. */
  isAtWork = false;
  /** The person of this window, at another terminal. */
  person: Producer | undefined;

  constructor(world: World, options: WindowOptions, seed: string, over: AbortSignal) {
    this.#world = world;
    this.options = options;
    this.#chance = new Chance(`${seed} ${options.name}`);
    this.#over = over;
    this.#overture = [...(options.overture ?? [])];
  }

  /** Whether the window has finished its first actions. */
  get isWarm(): boolean {
    return this.#overture.length === 0;
  }

  get agent(): string {
    return `${this.options.project}/${this.options.agent}`;
  }

  /** The most specific address of the window's conversation. */
  get address(): string {
    return this.conversation === undefined ? this.agent : `${this.agent}#${this.conversation}`;
  }

  /** Runs processes of the host one after the other, until the storm ends. The last process ends normally. */
  async live(): Promise<void> {
    while (!this.#over.aborted) {
      const isHealthCheck = this.#chance.of(0.06);
      const host = this.#open();
      if (await this.#connect(host, true)) {
        if (isHealthCheck) await host.ask({ do: 'end' });
        else await this.#session(host);
      } else if (!this.#over.aborted) this.#world.kill('host', host.pid);
      if (this.#over.aborted) await host.ask({ do: 'end' });
      await host.ended;
      await sleep(this.#chance.between(0, 400));
    }
  }

  /** Runs a new session that works until no more notifications arrive. Returns true if the last rounds had no notifications. */
  async drain(front: Front | undefined, rounds = 80): Promise<boolean> {
    const host = this.#open();
    let quiet = 0;
    const connected = await this.#connect(host, false, undefined, front);
    for (let round = 0; connected && round < rounds && quiet < 3; round++) {
      const did = await host.ask(this.#calling(['small']));
      const pulled = await host.ask({ do: 'pull' });
      const isQuiet = did?.answered?.every((answered) => answered === 'plain') === true && pulled?.pulled === 0;
      quiet = isQuiet ? quiet + 1 : 0;
      await sleep(isQuiet ? 150 : 20);
    }
    await host.ask({ do: 'end' });
    await host.ended;
    return connected && quiet >= 3;
  }

  #open(): Host {
    const { name, project, client, program, servers = 1, url, variable } = this.options;
    this.#sessions++;
    this.#openedAt = now();
    this.#named = variable === undefined ? (url === undefined ? undefined : 'main') : `${name}-s${this.#sessions}`;
    const env: Record<string, string> = variable === undefined ? {} : { [variable]: this.#named ?? '' };
    this.#host = this.#world.host(
      program,
      {
        tap: this.#world.tap('client', name),
        window: name,
        agent: this.agent,
        client,
        ...(this.#named === undefined ? {} : { conversation: this.#named }),
        cwd: this.#world.at(project),
        gateway: url === undefined ? this.#world.gateway(servers) : [],
      },
      env,
    );
    return this.#host;
  }

  async #connect(host: Host, mayDie: boolean, renamed?: string, calm?: Front): Promise<boolean> {
    const { url, variable } = this.options;
    host.point = mayDie && url === undefined && this.#chance.of(0.35) ? this.#point() : undefined;
    const env: Record<string, string> = {
      ...(host.point === undefined ? {} : { EARPIECE_FAULT: host.point }),
      // A host that restarts its gateway after `/clear` names its current session.
      ...(variable === undefined ? {} : { [variable]: renamed ?? this.#named ?? '' }),
    };
    const at = url === undefined ? undefined : (calm ?? url());
    if (url !== undefined && at === undefined) {
      await sleep(100);
      return this.#over.aborted ? false : this.#connect(host, mayDie);
    }
    const did = await host.ask({
      do: 'connect',
      env,
      ...at,
      ...(renamed === undefined ? {} : { conversation: renamed }),
    });
    if (did?.ok !== true) return false;
    // Producers use a session's name only after its first answer: before that, the session was not a conversation.
    this.conversation = this.#named;
    return true;
  }

  #point(): string {
    return `${this.#chance.pick(GATEWAY_POINTS)}:${this.#chance.between(1, 3)}`;
  }

  async #session(host: Host): Promise<void> {
    for (let left = this.#chance.between(6, 45); left > 0 && !this.#over.aborted;) {
      if (this.quiet?.isOn === true) {
        const goesOn = await this.#do(host, this.#chance.weighed({ call: 7, pull: 3 }));
        this.isAtWork = goesOn;
        if (!goesOn) return;
        await sleep(this.#chance.between(10, 90));
        continue;
      }
      left--;
      this.isAtWork = false;
      const by = this.#chance.weighed({
        call: 54,
        parallel: 10,
        serial: 9,
        pull: 6,
        cancelled: 3,
        crossed: 7,
        deaf: 2,
        hangUp: 2,
        outlived: this.person === undefined ? 0 : 1.5,
        takenBack: this.person === undefined ? 0 : 2,
        asksAgain: this.person === undefined ? 0 : 2,
        killGateway: 8,
        killHost: 4,
        clear: 3,
        rest: 3,
      });
      const first = this.#overture.shift();
      this.#cameToIt = true;
      const goesOn = await this.#do(host, first ?? by);
      if (first !== undefined && !this.#cameToIt && this.#retries-- > 0) this.#overture.push(first);
      if (!goesOn) return;
      await sleep(this.#chance.between(10, 90));
    }
    await host.ask({ do: 'end' });
  }

  /** Returns false if the host is dead. */
  async #do(host: Host, deed: string): Promise<boolean> {
    const chance = this.#chance;
    switch (deed) {
      case 'call':
        return this.#went(host, this.#calling([chance.weighed(TOOLS)]));
      case 'parallel':
        return this.#went(host, this.#calling(Array.from({ length: chance.between(2, 4) }, () => chance.weighed(TOOLS))));
      case 'serial':
        return this.#went(host, this.#calling(['small', 'failing', 'small'], { gapMs: chance.between(8, 35) }));
      case 'cancelled':
        return this.#went(host, this.#calling(['small'], { delayMs: 400, cancelAfterMs: 80 }));
      case 'tell':
        return this.person?.tell(this.address).then(() => true) ?? true;
      case 'structured':
        return this.#went(host, this.#calling(['structured']));
      case 'crossed':
        // Usually the cancel is sent so early that it can cross with the answer, and otherwise later.
        return this.#went(
          host,
          this.#calling(['small'], { crossAfterMs: chance.of(0.6) ? chance.between(0, 100) : chance.between(700, 1_500) }),
        );
      case 'deaf': {
        if (this.options.url !== undefined) return true;
        this.isDeaf = true;
        const deaf = host.ask({ do: 'deaf', ms: chance.between(200, 1_500) });
        const goes = await this.#went(host, this.#calling(['big', 'small', 'small']));
        await deaf;
        this.isDeaf = false;
        return goes;
      }
      case 'hangUp': {
        if (this.options.url === undefined) await host.ask({ do: 'hangUp' });
        // Over HTTP, the client hangs up before the server has answered, see `killHost`.
        const answer = this.#went(host, this.#calling(['small'], this.options.url === undefined ? {} : { delayMs: 1_500 }));
        if (this.options.url !== undefined) await sleep(chance.between(0, 60));
        if (this.options.url !== undefined) await host.ask({ do: 'hangUp' });
        return answer;
      }
      case 'outlived':
        return this.#outlived(host);
      case 'asksAgain':
        return this.#asksAgain(host);
      case 'takenBack':
        return this.#takenBack(host);
      case 'pull':
        return this.#pull(host);
      case 'rest':
        await sleep(chance.between(500, 2_500));
        return true;
      case 'killGateway': {
        const answer = this.#went(host, this.#calling([chance.weighed(TOOLS), 'small']));
        await sleep(chance.between(0, 60));
        if (host.gateway !== undefined && this.options.url === undefined) this.#world.kill('gateway', host.gateway);
        return answer;
      }
      case 'killHost': {
        // The host is killed before the server answers. The product cannot know whether a dead client has read an answer, so a
        // notification in an answer would count as delivered.
        const answer = this.#went(host, this.#calling([chance.weighed(TOOLS)], { delayMs: 1_500 }));
        await sleep(chance.between(0, 60));
        this.#world.kill('host', host.pid);
        await answer;
        return false;
      }
      default: {
        // `/clear`: the host process continues with a new session.
        const renamed = this.options.variable === undefined ? undefined : `${this.options.name}-s${++this.#sessions}`;
        this.#named = renamed ?? this.#named;
        return (await this.#connect(host, true, renamed)) ? true : this.#reconnect(host);
      }
    }
  }

  /**
   * Pauses the agent: a call is refused, the host is killed, and the resumed conversation is refused too, until the pause is
   * lifted.
   */
  async #outlived(host: Host): Promise<boolean> {
    const { address, person } = this;
    if (person === undefined) return true;
    const { acknowledged } = await person.pause(address);
    this.#cameToIt = acknowledged;
    if (acknowledged) {
      const before = await host.ask(this.#calling(['small']));
      this.#world.kill('host', host.pid);
      await host.ended;
      const next = this.#open();
      const refuses = (did: Did | undefined): boolean => did?.answered?.includes('refused') === true;
      this.#cameToIt = false;
      if (await this.#connect(next, false))
        for (let left = 2; left > 0; left--) this.#cameToIt ||= refuses(await next.ask(this.#calling(['small'])));
      this.#cameToIt &&= refuses(before);
      await person.resume(address);
      await next.ask({ do: 'end' });
      await next.ended;
      return false;
    }
    await person.resume(address);
    return true;
  }

  /**
   * Lets a critical notification refuse calls while the agent does not pull. Then calls again, first too early after the last
   * refusal, and then late enough.
   */
  async #asksAgain(host: Host): Promise<boolean> {
    const { acknowledged } = (await this.person?.tell(this.address, { level: 'critical' })) ?? {};
    this.#cameToIt = false;
    if (!acknowledged) return true;
    for (const [least, most] of [
      [300, 600],
      [600, 900],
      [1_050, 1_400],
    ] as const) {
      const did = await host.ask(this.#calling(['small']));
      if (did === undefined) return false;
      if (did.answered?.includes('gone') === true) return this.#reconnect(host);
      this.#cameToIt = did.answered?.includes('refused') === true;
      await sleep(this.#chance.between(least, most));
    }
    return this.#went(host, this.#calling(['small']));
  }

  /** Withdraws a notification while its delivery is uncertain, because its gateway was killed right after the answer. */
  async #takenBack(host: Host): Promise<boolean> {
    const { address, person } = this;
    if (person === undefined || this.options.url !== undefined) return true;
    const { nonce } = await person.tell(address);
    const did = await host.ask(this.#calling(['small']));
    this.#cameToIt = did?.answered?.includes('told') === true;
    if (this.#cameToIt && host.gateway !== undefined) this.#world.kill('gateway', host.gateway);
    else if (did?.answered?.includes('gone') !== true) return did !== undefined;
    await person.takeBack(nonce);
    return this.#reconnect(host);
  }

  /** Makes a call, and reacts to the answer like a model, which usually pulls after a refusal. */
  async #went(host: Host, wish: Wish): Promise<boolean> {
    const did = await host.ask(wish);
    if (did === undefined) return false;
    this.workingSince = this.#openedAt;
    const has = (what: Answered): boolean => did.answered?.includes(what) === true;
    if (has('gone')) return this.#reconnect(host);
    // A gateway that dies between its answer and the client's next frame does not know whether the client read the answer.
    if (has('told') && host.gateway !== undefined && this.options.url === undefined && this.#chance.of(0.15)) {
      this.#world.kill('gateway', host.gateway);
      return this.#reconnect(host);
    }
    if (has('refused') && this.#chance.of(0.6)) return this.#pull(host);
    return true;
  }

  async #pull(host: Host): Promise<boolean> {
    const did = await host.ask({ do: 'pull' });
    if (did === undefined) return false;
    return did.pulled === 'gone' ? this.#reconnect(host) : true;
  }

  /**
   * Connects to a new gateway, as some hosts do. Otherwise kills the host and returns false, so that the person resumes the
   * conversation.
   */
  async #reconnect(host: Host): Promise<boolean> {
    const restarts = this.options.program !== 'codex' && this.options.program !== 'opencode';
    for (let tries = 0; restarts && tries < 5 && !this.#over.aborted; tries++)
      if (await this.#connect(host, tries === 0)) return true;
    this.#world.kill('host', host.pid);
    return false;
  }

  #calling(
    tools: readonly ToolName[],
    how: { gapMs?: number; delayMs?: number; cancelAfterMs?: number; crossAfterMs?: number } = {},
  ): Wish {
    const { delayMs, ...rest } = how;
    const slow = (): number => delayMs ?? (this.#chance.of(0.12) ? this.#chance.between(50, 700) : 0);
    const calls = tools.map((tool) => ({ call: `call-${this.options.name}-${++this.#calls}`, tool, delayMs: slow() }));
    return { do: 'call', calls, lateMs: this.#chance.between(300, 1_600), ...rest };
  }
}
