import { isBlank } from '../../core/blank.ts';
import { formatAddress, logKey, logOf, splitLog, type Address, type LogKey } from '../../core/address.ts';
import { defined } from '../../core/defined.ts';
import { didYouMean, EarpieceError } from '../../core/errors.ts';
import { MAX_DELAY } from '../../core/lifetime.ts';
import { MAX_DEPTH, nestsDeeper, tooDeep, type Json } from '../../core/json.ts';
import {
  ACTIONS,
  LEVELS,
  LIMITS,
  MOMENTS,
  isInterrupt,
  type Action,
  type Deliver,
  type Level,
  type NotificationInput,
} from '../../core/notification.ts';
import type { UserInbox } from '../../user-inbox.ts';
import { RECEIPTS, type ReceiptName } from '../../core/receipts.ts';
import { awaitReceipt, callersWords, type Queued } from '../../inbox/index.ts';
import { type Answer, choice, type CommandLine } from '../command-line.ts';
import {
  addressFrom,
  countOption,
  durationOption,
  notInItsShell,
  onlyAPerson,
  personOption,
  SERVER_OPTION,
  speaker,
  tryFirst,
  withInbox,
  withOptionTo,
  type GlobalOptions,
} from '../context.ts';
import { turnsUnseen } from '../moments.ts';
import { clock, complain, nameOf, print, printJson } from '../terminal.ts';
import { waited, type Waited } from '../waited.ts';

type Options = GlobalOptions & {
  to?: string;
  kind: string;
  level?: Level;
  id?: string;
  key?: string;
  supersede?: boolean;
  data?: string;
  action?: Action;
  instruction?: string;
  deliver?: string;
  ttl?: string;
  purpose?: string;
  as?: string;
  wait?: ReceiptName;
  timeout?: string;
  server?: string;
};

const DEFAULT_TIMEOUT_MS = 30_000;

export function send(command: CommandLine, answer: Answer): void {
  command
    .description(
      'Queues a notification. By default, the next message to the agent carries the notification. The notification is durable when this command returns. ' +
        'Without a message, or with "-", the command reads the text from stdin.',
    )
    .option(
      '--to <address>',
      'the receivers: agent, project/agent, project/agent#conversation or project/* (default: EARPIECE_ADDRESS or `address` in earpiece.toml, otherwise all active agents of this project)',
    )
    .addOption(
      choice(
        '--level <level>',
        LEVELS,
        'the level; a critical notification interrupts the agent, except with --action resume (default: info, and critical with --action cancel or pause)',
      ),
    )
    .option('--kind <source.name>', 'the kind, source.name', 'user.message')
    .option('--id <id>', 'an id of your choice; a second notification of the same sender with this id changes nothing')
    .option('--key <key>', 'notifications with the same key are counted together')
    .option(
      '--supersede',
      'with --key: when due, the notification replaces older notifications with this key that the same sender also sent with --supersede',
    )
    .option('--data <json>', 'JSON that the agent reads after the message')
    .addOption(choice('--action <action>', ACTIONS, 'the request to the agent; cancel and pause are interrupts'))
    .option('--instruction <text>', 'a text that says what the agent must do')
    .option(
      '--deliver <moment>',
      `the moment of delivery: ${MOMENTS.join(', ')}, in:<duration>, turns:<n> or after:<tool> (write a tool as files__read, files:read or read; default: next)`,
    )
    .option(
      '--ttl <duration>',
      'the time until the notification expires, from now or from the time in --deliver: a duration, or "never" (default: by level)',
    )
    .option('--purpose <purpose>', 'deliver only to conversations with this purpose or without a purpose')
    .option('--as <person>', 'the person who sends the notification')
    .addOption(choice('--wait <receipt>', RECEIPTS, 'wait until the notification has this receipt'))
    .option('--timeout <duration>', 'with --wait: the maximum time (default: 30s)')
    .option(...SERVER_OPTION)
    .onMistake('put a message that begins with "-" after --')
    .example(
      `earpiece send --level error --kind ci.failed "CI failed on main"
npm test 2>&1 | tail -n 20 | earpiece send --to coder --kind tests.failed
earpiece send --to coder --wait read --timeout 5m "the review is done"
earpiece send --to coder --action pause --instruction "ask anna" "hold on"`,
    )
    .action(async (words: string[], options: Options) => {
      // Most mistakes in the options are reported before stdin is read and the database is opened.
      if (options.timeout !== undefined && options.wait === undefined)
        throw new EarpieceError('bad_argument', `--timeout ${options.timeout} works only with --wait; add --wait delivered`);
      if (options.supersede && options.key === undefined)
        throw new EarpieceError(
          'bad_argument',
          '--supersede works only with --key <key>, because the notification replaces older ones of its key; add --key <key>',
        );
      const person = personOption(options.as, 'sends the notification');
      const inside = speaker();
      if (options.action === 'resume' && inside === undefined) notInItsShell('to lift a pause');
      if (inside !== undefined) {
        if (person !== undefined) onlyAPerson(`to speak as ${JSON.stringify(person.slice(0, 80))}`);
        if (options.level === 'critical')
          complain('a command that an agent runs may use at most level error; critical was lowered to error');
      }
      const timeoutMs = options.timeout === undefined ? DEFAULT_TIMEOUT_MS : durationOption('--timeout', options.timeout);
      if (options.purpose !== undefined) (await import('../purpose.ts')).purposeOf({ purpose: options.purpose });
      const rest = inputFrom(options, person);
      if (
        inside === undefined &&
        rest.deliver !== undefined &&
        rest.deliver !== 'now' &&
        isInterrupt({ ...rest, level: rest.level ?? 'info' })
      )
        complain('--deliver has no effect, because an interrupt waits for no moment; leave --deliver out');
      const message = words.length === 0 || (words.length === 1 && words[0] === '-') ? await fromStdin() : words.join(' ');
      const tell = (queued: Queued, to: Address, expiry: Expiry, after: Waited | undefined): void => {
        if (options.json) printJson({ ...queued, ...(after ? { receipt: after.receipt } : {}) });
        else print(`${nameOf(queued.id)}  ${said(queued, formatAddress(to), options.action, expiry)}${after ? after.said : ''}`);
        if (after) answer(after.code);
      };
      if (options.server !== undefined) {
        const { agentsSeen, remotely, send: sendThere } = await import('../remote.ts');
        const until = options.wait && { receipt: options.wait, timeoutMs };
        return remotely(options.server, async (remote) => {
          const {
            queued,
            to,
            waited: after,
          } = await sendThere(remote, { message, ...rest, to: options.to }, until).catch(withOptionTo);
          warn(to, await agentsSeen(remote, to.project), queued);
          // Without --ttl, settings of the server decide when the notification expires, and these settings are unknown here.
          tell(queued, to, options.ttl === undefined ? 'expires' : expiryIn(options.ttl), after);
        });
      }
      const queue = (ear: UserInbox): Promise<Queued> =>
        ear.queue(addressFrom(ear, options.to), callersWords({ message, ...rest }, ear.speaker)).catch(withOptionTo);
      await tryFirst(options, options.to, queue);
      await withInbox(options, async (ear) => {
        const to = addressFrom(ear, options.to);
        const queued = await queue(ear);
        warn(to, await agentsThere(ear, to), queued);
        const early = await turnsUnseen(ear, to, rest.deliver);
        if (early !== undefined) complain(early);
        const expiry = await expiryOf(ear, queued, options.ttl);
        tell(queued, to, expiry, options.wait && (await wait(ear, queued, options.wait, timeoutMs)));
      });
    });
}

/** Returns the agents that were seen in the project; undefined if the addressed agent was seen, or if `to` is a whole project. */
async function agentsThere({ store }: UserInbox, to: Address): Promise<ReadonlySet<string> | undefined> {
  if (to.kind === 'project' || (await store.presence({ log: logOf(to) })).length > 0) return undefined;
  return new Set((await store.presence({ project: to.project })).map(({ log }) => splitLog(log).agent));
}

/** The maximum number of agents that are suggested. */
const NAMED = 3;

/** Warns if the addressed agent was never seen, although other agents of the project were: the name may be a typing error. */
function warn(to: Address, seen: ReadonlySet<string> | undefined, { id }: Queued): void {
  if (to.kind === 'project' || seen === undefined || seen.size === 0 || seen.has(to.agent)) return;
  const near = didYouMean(to.agent, seen);
  const others = [...seen].slice(0, NAMED).map((agent) => nameOf(agent));
  const known =
    near === undefined
      ? `seen here: ${others.join(', ')}${seen.size > NAMED ? ', …' : ''}.`
      : `did you mean ${nameOf(logKey(to.project, near))}?`;
  complain(
    `no agent ${nameOf(formatAddress(to))} has been seen yet; ${known} To withdraw the notification: earpiece withdraw ${nameOf(id)}`,
  );
}

/** When an interrupt expires, such as "expires in 10m"; undefined if it never expires. */
type Expiry = string | undefined;

const expiryIn = (ttl: string): Expiry => (ttl === 'never' ? undefined : `expires in ${ttl}`);

/**
 * Returns when an interrupt for a whole project expires. The settings, or an earlier call with the same id, may have set this
 * time.
 */
async function expiryOf({ store }: UserInbox, queued: Queued, ttl: string | undefined): Promise<Expiry> {
  if (queued.kind === 'queued' && ttl !== undefined) return expiryIn(ttl);
  const log = queued.to.find((each) => each.endsWith('/*'));
  if (log === undefined) return undefined;
  const id = queued.kind === 'folded' ? queued.into : queued.id;
  const [item] = await store.items(log as LogKey, { kind: 'ids', ids: [id] });
  if (item === undefined) return 'expires';
  const { expiresAt } = item.notification;
  return typeof expiresAt === 'number' ? `expires at ${clock(expiresAt)}` : undefined;
}

/** The maximum number of receivers that are listed by their addresses. `--json` lists all of them. */
const LISTED = 20;

/** Lists the receivers. An interrupt for a whole project also applies to conversations that begin before the interrupt ends. */
function named(to: readonly string[], action: Action | undefined, expiry: Expiry): string {
  const end = `the interrupt ${expiry === undefined ? '' : `${expiry}, or `}is withdrawn${action === 'pause' ? ' or lifted' : ''}`;
  const all = to.filter((each) => !each.endsWith('/*')).map((each) => nameOf(each));
  const now = all.length > LISTED ? [...all.slice(0, LISTED), `${all.length - LISTED} more`] : all;
  const later = to
    .filter((each) => each.endsWith('/*'))
    .map((each) => `each conversation that begins in ${nameOf(each.slice(0, -2))}, until ${end}`);
  if (later.length === 0) return now.join(', ');
  return now.length === 0 ? later.join(', ') : `${now.join(', ')}, and ${later.join(', ')}`;
}

function said(queued: Queued, address: string, action: Action | undefined, expiry: Expiry): string {
  const to = queued.to.length === 0 ? nameOf(address) : named(queued.to, action, expiry);
  switch (queued.kind) {
    case 'queued':
      return `queued for ${to}`;
    case 'folded':
      return `counted into ${nameOf(queued.into)}, which waits for ${to}`;
    case 'duplicate':
      return `was already queued for ${to}; nothing changed`;
    default:
      return queued satisfies never;
  }
}

const NO_MESSAGE = 'write the message after the command, or pipe it in';

/**
 * Reads a message from stdin. Throws `bad_notification` if stdin has more bytes than any message may have. Bytes that are not
 * UTF-8 are replaced and reported.
 */
async function fromStdin(): Promise<string> {
  if (process.stdin.isTTY) throw new EarpieceError('bad_argument', `there is no message; ${NO_MESSAGE}`);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > LIMITS.messageChars * 4)
      throw new EarpieceError(
        'bad_notification',
        `the message on stdin must be at most ${LIMITS.messageChars} characters, got more than ${LIMITS.messageChars * 4} bytes; write the message to a file and send the path`,
      );
    chunks.push(chunk);
  }
  const all = Buffer.concat(chunks);
  if (isBlank(all.toString())) throw new EarpieceError('bad_argument', `stdin has no message; ${NO_MESSAGE}`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(all).trimEnd();
  } catch {
    complain('stdin is not valid UTF-8; "\ufffd" replaces the unreadable parts');
    return new TextDecoder('utf-8').decode(all).trimEnd();
  }
}

function inputFrom(options: Options, person: string | undefined): Omit<NotificationInput, 'message'> {
  return {
    kind: options.kind,
    ...defined({ level: options.level, id: options.id, key: options.key, supersede: options.supersede }),
    ...(options.data === undefined ? {} : { data: parseData(options.data) }),
    ...defined({ action: options.action, instruction: options.instruction }),
    ...(options.deliver === undefined ? {} : { deliver: parseDeliver(options.deliver) }),
    ...(options.ttl === undefined ? {} : parseTtl(options.ttl)),
    ...defined({ purpose: options.purpose }),
    ...(person === undefined ? {} : { origin: { person } }),
  };
}

function parseData(text: string): Json {
  if (nestsDeeper(text, MAX_DEPTH)) throw new EarpieceError('bad_notification', tooDeep('data'));
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new EarpieceError(
      'bad_argument',
      `--data ${JSON.stringify(text.slice(0, 80))} is not JSON; write e.g. '{"branch": "main"}', with single quotes around the double quotes`,
    );
  }
}

function parseTtl(text: string): { ttlMs: number } | { expiresAt: null } {
  if (text === 'never') return { expiresAt: null };
  const ttlMs = durationOption('--ttl', text, { or: 'never' });
  if (ttlMs === 0)
    throw new EarpieceError(
      'bad_argument',
      'with --ttl "0" the notification expires before the agent can read it; write e.g. 10m, or never',
    );
  return { ttlMs };
}

function parseDeliver(text: string): NonNullable<NotificationInput['deliver']> {
  if (text.startsWith('in:')) {
    const inMs = durationOption('--deliver', text, { before: 'in:' });
    if (inMs > MAX_DELAY.ms)
      throw new EarpieceError(
        'bad_argument',
        `--deliver ${JSON.stringify(text.slice(0, 80))} must be at most in:${MAX_DELAY.text}; write a shorter duration`,
      );
    return { inMs };
  }
  if (text.startsWith('turns:')) return { afterTurns: countOption('--deliver', text, { max: 1_000, before: 'turns:' }) };
  if (/^after:\S{1,256}$/.test(text)) return { afterTool: text.slice('after:'.length) };
  if ((MOMENTS as readonly string[]).includes(text)) return text as Deliver;
  const near = didYouMean(text, MOMENTS);
  throw new EarpieceError(
    'bad_argument',
    `--deliver ${JSON.stringify(text.slice(0, 80))} must be one of ${MOMENTS.join(', ')}, in:<duration>, turns:<n>, after:<tool>${near === undefined ? '' : `; did you mean ${near}?`}`,
  );
}

async function wait(ear: UserInbox, { id, to }: Queued, until: ReceiptName, timeoutMs: number): Promise<Waited> {
  const logs = [...new Set(to.map((each) => each.split('#')[0] as LogKey))];
  return waited(await awaitReceipt(ear.store, { id, logs }, { until, withinMs: timeoutMs }), { until, timeoutMs });
}
