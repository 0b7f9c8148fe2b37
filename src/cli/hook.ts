/**
 * `earpiece hook <host>`: answers one call of an agent's hook. The hook never stops the agent: after a problem, the hook prints
 * one line on stderr and ends with code 0. Some hosts treat any other code as a refusal.
 */
import { formatProblem, readConfig, stateFolder } from '../config/index.ts';
import { defined } from '../core/defined.ts';
import { EarpieceError } from '../core/errors.ts';
import { openInboxWith, type UserInbox } from '../user-inbox.ts';
import {
  attend,
  conversationOf,
  forgetMarks,
  noteWork,
  serverLives,
  isWoken,
  TERMINAL_VARIABLE,
  type Attended,
  type Caller,
  type HookCall,
  type HookHost,
  type Moment,
  type Place,
  type Printed,
} from '../hosts/index.ts';
import { identify, insideAgent, patience, systemProcesses, type InsideAgent } from '../inbox/index.ts';
import { keepFollowing } from './housekeeping.ts';
import { ageMs } from './hook-age.ts';
import { databaseOf, namedHost } from './hook-glance.ts';
import { complain, handOver } from './terminal.ts';
import type { GlobalOptions } from './context.ts';
import { mayCarryFor } from './may-read.ts';
import { isInCommand, ownSessions } from './own-sessions.ts';
import { INPUT_WITHIN_MS, mayBeWhole, mayHavePushed, parsed, readBefore, type HookInput } from './hook-input.ts';

/**
 * The maximum time for the store, because the agent waits for its hook. While templates are loaded or rendered, the time is up to
 * 5 s longer. After this time, the agent continues without an answer.
 */
const STORE_WITHIN_MS = 250;
/** The maximum size of a hook's input, which may contain a batch of large results. */
const MAX_INPUT_BYTES = 64 * 1024 * 1024;

/**
 * An answer in this time before the agent's time limit counts as late. The time limit includes the start and the end of this
 * process.
 */
const MARGIN_MS = 1_500;
/** The time limit, in seconds, that is assumed for an event without a known limit. */
const LIMIT_S = 5;

const GOES_ON = 0;

export type HookOptions = GlobalOptions & {
  readonly as?: string;
  readonly beside?: string;
  readonly look?: boolean;
  readonly served?: boolean;
};

/** Answers one call of a hook, and resolves with the exit code. Never throws. */
export async function hook(host: HookHost, options: HookOptions): Promise<number> {
  try {
    const input = await readInput();
    const call = host.parse(input);
    if (call === undefined) return GOES_ON;
    return await answered(host, call, input, options);
  } catch (error) {
    failed(host, error);
    return GOES_ON;
  }
}

async function answered(
  host: HookHost,
  call: HookCall,
  input: Readonly<Record<string, unknown>>,
  options: HookOptions,
): Promise<number> {
  let ear: UserInbox | undefined;
  let afterwards: (() => Promise<void>) | undefined;
  const ask = async (): Promise<Attended> => {
    const inside = insideAgent({ env: process.env });
    const marks = (): void => {
      forgets(host, call, options);
      if (isAtWork(call)) notesWork(host, inside, Date.now() - ageMs());
    };
    if (inside === undefined) marks();
    const { place, caller } = await opened(host, call, options, complain, inside);
    ear = place.inbox;
    if (host.waker !== undefined && call.moment.kind === 'prompt' && place.terminal === undefined)
      afterwards = async () => {
        const { startWaiter } = await import('./waiter.ts');
        await startWaiter(host, await conversationOf(place, host, caller), caller, options);
      };
    if (call.moment.kind === 'session_start' && caller.subagent === undefined)
      afterwards = () => keepFollowing(place.inbox, caller.folder);
    if (isAfterTool(call.moment) && caller.subagent === undefined && mayHavePushed(input) && mayOffer(place.inbox))
      afterwards = async () => {
        const { startOffer } = await import('./offer.ts');
        startOffer(place.inbox, caller.folder, (await conversationOf(place, host, caller)).log);
      };
    const attended = await attend(place, host, caller, momentOf(call, options));
    // In a command of an agent, `attend` must first allow the session.
    if (inside !== undefined) marks();
    if (attended.answer.kind === 'hold') notesWork(host, inside, Date.now());
    return attended;
  };
  const attended = await within(ask(), () => ear?.lines?.busy?.() ?? false).catch(async (error: unknown) => {
    await ear?.close().catch(() => {});
    throw error;
  });
  if (attended === undefined) {
    complain(
      `hook ${host.name}: the database did not answer within ${STORE_WITHIN_MS} ms; the agent continues, and waiting notifications stay open`,
    );
    // The agent does not read an answer that arrives after this point. The lease of the answer's notifications ends with this
    // process.
    process.exit(GOES_ON);
  }
  const printed: Printed = host.format(attended.answer, input);
  if (printed.stderr !== undefined) process.stderr.write(printed.stderr);
  const trouble = await handOver(printed.stdout);
  const isLate = (): boolean => ageMs() >= givesUpAfterMs(host, input) - MARGIN_MS;
  if (trouble !== undefined) await attended.release();
  else if (!isLate()) await attended.confirm();
  await afterwards?.().catch((error: unknown) => failed(host, error));
  // The agent reads the output when this process has ended. If the agent has stopped waiting, the agent drops the output and runs
  // the call.
  if (trouble === undefined && isLate()) await attended.reopen?.();
  await ear?.close();
  return printed.exitCode ?? GOES_ON;
}

/** Removes the quiet marks of the session, except those that stay valid (`marksStayFor`). */
const forgets = (host: HookHost, call: HookCall, options: HookOptions): void =>
  forgetMarks(stateFolder({ env: process.env }), call.caller.session, {
    over: call.moment.kind === 'session_end',
    unless: marksStayFor(host, call, options),
  });

/**
 * Whether the agent works after this moment. False at the end of a turn, because only `answered` knows whether Earpiece holds the
 * turn.
 */
const isAtWork = ({ moment: { kind }, caller }: HookCall): boolean =>
  caller.subagent === undefined && kind !== 'session_start' && kind !== 'session_end' && kind !== 'turn_end';

/**
 * Records that the agent works, so that its waiting process does not wake it. A command of an agent may name any process in
 * `CLAUDE_PID`, so only a host that runs inside the command counts.
 */
function notesWork({ events }: HookHost, inside: InsideAgent | undefined, beganAt: number): void {
  if (!Object.values(events).some(({ waits }) => waits)) return;
  const shown = namedHost(process.env);
  if (shown === undefined || (inside !== undefined && !isInCommand(shown))) return;
  noteWork(stateFolder({ env: process.env }), shown, beganAt);
}

/**
 * Returns the database whose quiet marks stay valid after this call. If a hook before a tool may replace the MCP server, no marks
 * stay. The server may have ended without a change of the database.
 */
const marksStayFor = ({ events }: HookHost, { caller }: HookCall, { db }: HookOptions): string | undefined =>
  Object.values(events).some(({ standsIn }) => standsIn)
    ? undefined
    : databaseOf(db ?? process.env['EARPIECE_DB'], process.env, caller.folder);

/** Returns the time limit that `install` wrote for this event, in milliseconds. */
function givesUpAfterMs({ events }: HookHost, input: Readonly<Record<string, unknown>>): number {
  const event = [input['hook_event_name'], input['hookName'], input['event'], input['event_type']].find(
    (name) => typeof name === 'string' && Object.hasOwn(events, name),
  );
  return (events[String(event)]?.timeoutS ?? LIMIT_S) * 1_000;
}

/**
 * Returns the moment of the call. With `--served`, the host calls the MCP server at the end of each batch, and the server carries
 * notifications. The hook before a tool then carries notifications only while the server does not run.
 */
function momentOf({ moment, caller }: HookCall, { served = false }: HookOptions): Moment {
  if (!served || moment.kind !== 'before_tool') return moment;
  return {
    ...moment,
    carries: !serverLives(stateFolder({ env: process.env }), caller.session, (pid) => systemProcesses.get(pid)),
  };
}

const isAfterTool = ({ kind }: Moment): boolean => kind === 'after_tool' || kind === 'batch_end';

/**
 * Whether to offer the pull request of a branch. A project with any untrusted setting gets no offer, because the offer starts the
 * user's `gh` in the folder of the project.
 */
const mayOffer = ({ config }: UserInbox): boolean => config.follow.offer && config.untrusted.length === 0;

type Opened = { readonly place: Place & { readonly inbox: UserInbox }; readonly caller: Caller };

/** Opens the inbox for the project that the session works in, and identifies the caller. */
export async function opened(
  host: HookHost,
  { caller, moment }: HookCall,
  options: HookOptions,
  onProblem: (line: string) => void,
  inside: InsideAgent | undefined,
): Promise<Opened> {
  const at = { cwd: caller.folder, env: process.env, flags: defined({ db: options.db }) };
  // An invalid configuration must not stop notifications, so its valid parts still apply.
  const { config, problems } = readConfig(at);
  for (const problem of problems) onProblem(formatProblem(problem));
  const given = options.as ?? (config.address?.endsWith('/*') ? undefined : config.address);
  if (given !== undefined) mayCarryFor(given, config.project);
  const inbox = await openInboxWith(config, { ...at, onProblem, inbox: { speaker: inside } });
  const { host: nearest } = await identify(
    {
      project: config.project,
      env: { ...process.env, EARPIECE_ADDRESS: undefined },
      session: caller.session,
      folder: caller.folder,
      resumes: moment.kind === 'session_start' && moment.resumed === true,
    },
    inbox.store,
  );
  const own = inside === undefined ? undefined : ownSessions(inside, nearest?.process);
  const found = own?.isBelow === false ? undefined : nearest;
  const one = host.manySessions !== true && (found?.serves !== true || found.inOneOfSeveral === true);
  const shows = found !== undefined && found.agent === host.agent && one ? found : undefined;
  return {
    place: {
      inbox,
      project: config.project,
      given,
      // Two wakers would wake the agent twice for one notification, so `earpiece in` types nothing if the hooks of the host wake
      // its agent.
      terminal: isWoken(host) ? undefined : process.env[TERMINAL_VARIABLE],
      ...(own === undefined ? {} : { mayAct: own.mayAct }),
    },
    caller: {
      ...caller,
      ...(shows === undefined
        ? own?.command
        : {
            process: shows.process,
            ...(shows.nested ? { nested: true } : {}),
            ...(shows.inOneOfSeveral ? { shared: true } : {}),
          }),
    },
  };
}

async function within<T>(work: Promise<T>, working: () => boolean): Promise<T | undefined> {
  const { over, end } = patience(STORE_WITHIN_MS, working);
  return Promise.race([work, over]).finally(end);
}

export async function readInput(): Promise<HookInput> {
  const before = readBefore();
  const chunks: Buffer[] = [before.bytes];
  let bytes = before.bytes.length;
  let late = before.late;
  const timer = setTimeout(() => {
    late = true;
    process.stdin.destroy();
  }, INPUT_WITHIN_MS);
  try {
    const known = parsed(before.bytes);
    if (known !== undefined) return known;
    for await (const chunk of before.ended ? [] : (process.stdin as AsyncIterable<Buffer>)) {
      timer.refresh();
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_INPUT_BYTES)
        throw new EarpieceError('bad_argument', `the hook's input is larger than ${MAX_INPUT_BYTES / 1024 / 1024} MB`);
      if (!mayBeWhole(chunk)) continue;
      const whole = parsed(Buffer.concat(chunks));
      if (whole !== undefined) return whole;
    }
  } catch (error) {
    if (error instanceof EarpieceError) throw error;
  } finally {
    clearTimeout(timer);
    process.stdin.destroy();
  }
  const whole = parsed(Buffer.concat(chunks));
  if (whole !== undefined) return whole;
  const shown = JSON.stringify(Buffer.concat(chunks).subarray(0, 80).toString('utf8'));
  if (late)
    throw new EarpieceError(
      'bad_argument',
      `the hook's input ${shown} did not end within ${INPUT_WITHIN_MS / 1000} s; an agent must write one JSON object to stdin, and then close stdin`,
    );
  throw new EarpieceError(
    'bad_argument',
    `the hook's input ${shown} is not a JSON object; an agent calls this command with its event on stdin`,
  );
}

function failed(host: HookHost, error: unknown): void {
  const what = error instanceof Error ? error.message : String(error);
  const why = error instanceof EarpieceError ? what : `something unexpected happened: ${what}`;
  complain(`hook ${host.name}: ${why}; the agent continues`);
}
