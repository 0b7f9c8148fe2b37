import { holdsGate } from '../../core/clocks.ts';
import { formatKind, type Notification } from '../../core/notification.ts';
import type { Decision } from '../../core/plan.ts';
import { curesOf, type Cure } from '../../core/verdict/cures.ts';
import type { Verdict } from '../../core/verdict/kinds.ts';
import { cureCommand, sayVerdict, type TimeWords } from '../../core/verdict/words.ts';
import { formatDuration } from '../../config/index.ts';
import type { Why } from '../../inbox/index.ts';
import { wrapAll } from '../chat/wrap.ts';
import type { CommandLine } from '../command-line.ts';
import { logsWith, scopeIn, SERVER_OPTION, readInbox, type GlobalOptions } from '../context.ts';
import { table } from '../table.ts';
import { addressName, barred, senderOf, sentence, UNNAMED } from '../foreign.ts';
import { clock, columns, level, nameOf, paint, print, printJson } from '../terminal.ts';

export function why(command: CommandLine): void {
  command
    .description(
      'Explains in one sentence why a notification was delivered, waits or ended, and suggests what to do. The command then lists each step. ' +
        'A notification for several agents is explained for each agent.',
    )
    .option(...SERVER_OPTION)
    .example(`earpiece why n_01m8055j3z0d6pek19x3
earpiece why ci-1234 shop/coder --json`)
    .action(async (id: string, address: string | undefined, options: GlobalOptions & { server?: string }) => {
      const tell = (stories: readonly Why[], now: number): void => {
        if (options.json) return stories.forEach((story) => printJson(withWords(story, now)));
        print(stories.flatMap((story) => story.items.map((item) => page(story, item, now))).join('\n\n'));
      };
      if (options.server !== undefined) {
        const { remotely, why: whyThere } = await import('../remote.ts');
        return remotely(options.server, async (remote) => {
          const { log } = address === undefined ? {} : scopeIn(remote.config, address, false);
          tell([await whyThere(remote, id, log)], Date.now());
        });
      }
      await readInbox(options, async (ear) => {
        const stories: Why[] = [];
        for (const log of await logsWith(ear, id, address)) {
          const story = await ear.why(id, log);
          if (story !== undefined) stories.push(story);
        }
        // The agents' histories come first if all items in the project's log are closed.
        const over = stories.filter(isOverForAll);
        tell([...stories.filter((story) => !over.includes(story)), ...over], ear.store.now());
      });
    });
}

const isOverForAll = ({ log, items }: Why): boolean => log.endsWith('/*') && items.every(({ item }) => item.state === 'closed');

const words = (now: number): TimeWords => ({ clock: (at) => clock(at, now), span: spanOf, now });

/** Formats a duration: `412 ms`, `5.2 s`, `31 min`, `3 h`, `2 d`. */
function spanOf(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${Number((ms / 1_000).toFixed(1))} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min`;
  return ms < 86_400_000 ? `${Math.floor(ms / 3_600_000)} h` : `${Math.floor(ms / 86_400_000)} d`;
}

/**
 * A cure that `why` suggests with a command. Instead of `mark_read`, `why` suggests withdrawing the interrupt, which also lowers
 * the gate.
 */
type Typed = Exclude<Cure, { kind: 'mark_read' }>;

const curesFor = (verdict: Verdict, story: Why): readonly Typed[] =>
  curesOf(verdict, story).filter((cure) => cure.kind !== 'mark_read');

const withWords = (story: Why, now: number): object => ({
  ...story,
  items: story.items.map((item) => ({
    ...item,
    says: sayVerdict(item.verdict, words(now)),
    cures: curesFor(item.verdict, story).map((cure) => ({ ...cure, command: cureCommand(cure) })),
  })),
});

function page(story: Why, { item, receipt, verdict, steps, now: decisions }: Why['items'][number], now: number): string {
  const n = item.notification;
  const facts = [
    item.count > 1 ? `${item.count} times, last ${clock(item.lastAt, now)}` : '',
    n.action === undefined ? '' : `asks to ${n.action}`,
    sentBy(n),
    holdsGate(item, now) ? 'keeps the gate up' : '',
    item.state === 'open' && typeof n.expiresAt === 'number' ? expiry(n.expiresAt - now) : '',
  ].filter((fact) => fact !== '');
  return [
    ...wrapAll(sentence(sayVerdict(verdict, words(now)), 2_000), columns()).map((line) => paint('bold', line)),
    ...curesFor(verdict, story).map((cure) => `  ${cureSays(cure, verdict)}: ${nameOf(cureCommand(cure), 500)}`),
    '',
    `${level(n.level)} ${paint('bold', formatKind(n.kind))} for ${addressName(story.log, item.audience)}: ${paint('bold', receipt)}`,
    barred(n.message.length > 2_000 ? `${n.message.slice(0, 2_000)}… (cut; --json shows the whole text)` : n.message),
    ...(n.instruction === undefined ? [] : [barred(n.instruction, 'instruction')]),
    ...(n.key === undefined ? [] : [barred(n.key, 'key')]),
    ...wrapAll(facts.join(' · '), columns(), '  ').map((line) => paint('dim', line)),
    '',
    table(
      steps.map((step) => [
        `  ${paint('dim', clock(step.at, now))}`,
        step.what,
        paint('dim', sentence(step.detail ?? '', 2_000)),
      ]),
      [{}, {}, {}],
    ),
    // Decisions to deliver are omitted here, because the lines above show them.
    ...decisions.flatMap(({ conversation, decision }) =>
      decision.kind === 'take'
        ? []
        : wrapAll(`#${nameOf(conversation, 200)}: ${saying(decision)}`, columns(), '  now       ', ' '.repeat(12)).map((line) =>
            paint('dim', line),
          ),
    ),
  ].join('\n');
}

function sentBy(n: Notification): string {
  const sender = senderOf(n);
  if (sender === undefined) return `made by the subscriber ${nameOf(n.subscriber?.id ?? '', 100)}`;
  return `sent by ${sender === UNNAMED ? 'an unnamed producer' : sender}`;
}

const CURES: Readonly<Record<Typed['kind'], string>> = {
  unmute: 'lift the mute',
  resume: 'resume the agent',
  requeue: 'queue the notification again',
  setting: 'see the setting',
  withdraw: 'withdraw the notification',
  show: 'show the other notification',
  connect: 'check the connection',
};

/** Describes a cure in words. Withdrawing an interrupt lowers a gate only if this interrupt keeps the gate up. */
const cureSays = ({ kind }: Typed, verdict: Verdict): string =>
  kind === 'withdraw' && (verdict.kind === 'gate' || verdict.kind === 'behind_gate')
    ? `${CURES[kind]} and lower the gate`
    : CURES[kind];

function expiry(ms: number): string {
  if (ms <= 0) return 'the expiry time has passed';
  const coarse = ms > 3_600_000 ? 3_600_000 : ms > 60_000 ? 60_000 : 1_000;
  return `expires in ${formatDuration(Math.max(coarse, Math.floor(ms / coarse) * coarse))}`;
}

function saying(decision: Exclude<Decision, { kind: 'take' }>): string {
  const why = sentence(decision.reason, 300);
  switch (decision.kind) {
    case 'keep':
      return `keeps waiting (${decision.step}: ${why})`;
    case 'summarize':
      return `would only be counted in a summary (${decision.step}: ${why})`;
    case 'close':
      return `would close as ${decision.outcome} (${decision.step}: ${why})`;
    default:
      return decision satisfies never;
  }
}
