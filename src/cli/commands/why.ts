import type { Command } from 'commander';
import { formatKind } from '../../core/notification.ts';
import type { Decision } from '../../core/plan.ts';
import { formatDuration } from '../../config/index.ts';
import type { Why } from '../../inbox/index.ts';
import type { CommandLine } from '../command-line.ts';
import { logsWith, scopeIn, SERVER_OPTION, withEarpiece, type GlobalOptions } from '../context.ts';
import { table } from '../table.ts';
import { clock, level, paint, plain, plainLines, print, printJson } from '../terminal.ts';

export function why(program: CommandLine): void {
  program
    .command('why <id> [address]')
    .summary('what happened to a notification, and why')
    .description(
      'What happened to a notification, step by step, and why; for one that still waits also what would be decided about it now. ' +
        'One that went to several agents is told for each.',
    )
    .option(...SERVER_OPTION)
    .example(`earpiece why n_01m8055j3z0d6pek19x3
earpiece why ci-1234 shop/coder --json`)
    .action(async (id: string, address: string | undefined, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { server?: string }>();
      const tell = (stories: readonly Why[], now: number): void => {
        if (options.json) return stories.forEach((story) => printJson(story));
        print(stories.flatMap((story) => story.items.map((item) => page(story, item, now))).join('\n\n'));
      };
      if (options.server !== undefined) {
        const { remotely, why: whyThere } = await import('../remote.ts');
        return remotely(options.server, async (remote) => {
          const { log } = address === undefined ? {} : scopeIn(remote.config, address, false);
          tell([await whyThere(remote, id, log)], Date.now());
        });
      }
      await withEarpiece(options, async (ear) => {
        const stories: Why[] = [];
        for (const log of await logsWith(ear, id, address)) {
          const story = await ear.why(id, log);
          if (story !== undefined) stories.push(story);
        }
        tell(stories, ear.store.now());
      });
    });
}

function page(story: Why, { item, receipt, steps, now: decisions }: Why['items'][number], now: number): string {
  const n = item.notification;
  const facts = [
    item.count > 1 ? `${item.count} times, last ${clock(item.lastAt, now)}` : '',
    n.action === undefined ? '' : `asks to ${n.action}`,
    n.key === undefined ? '' : `key ${plain(n.key, 100)}`,
    n.origin?.person === undefined ? '' : `from ${plain(n.origin.person, 100)}`,
    item.gate ? 'holds the gate' : '',
    item.state === 'open' && typeof n.expiresAt === 'number' ? expiry(n.expiresAt - now) : '',
  ].filter((fact) => fact !== '');
  return [
    `${level(n.level)} ${paint('bold', formatKind(n.kind))} for ${plain(item.audience === '' ? story.log : `${story.log}#${item.audience}`)}: ${paint('bold', receipt)}`,
    plainLines(n.message.length > 2_000 ? `${n.message.slice(0, 2_000)}… (cut; --json has all of it)` : n.message),
    ...(n.instruction === undefined ? [] : [`  instruction: ${plain(n.instruction, 500)}`]),
    ...(facts.length === 0 ? [] : [paint('dim', `  ${facts.join(' · ')}`)]),
    '',
    table(
      steps.map((step) => [`  ${paint('dim', clock(step.at, now))}`, step.what, paint('dim', plain(step.detail ?? ''))]),
      [{}, {}, {}],
    ),
    ...decisions.map(({ conversation, decision }) => paint('dim', `  now       #${plain(conversation)}: ${saying(decision)}`)),
  ].join('\n');
}

function expiry(ms: number): string {
  if (ms <= 0) return 'its time is over';
  const coarse = ms > 3_600_000 ? 3_600_000 : ms > 60_000 ? 60_000 : 1_000;
  return `ends in ${formatDuration(Math.max(coarse, Math.floor(ms / coarse) * coarse))}`;
}

function saying(decision: Decision): string {
  const why = plain(decision.reason, 300);
  switch (decision.kind) {
    case 'take':
      return 'would ride on the next tool result';
    case 'keep':
      return `goes on waiting (${decision.step}: ${why})`;
    case 'summarize':
      return `would only be counted in the sum (${decision.step}: ${why})`;
    case 'close':
      return `would end ${decision.outcome} (${decision.step}: ${why})`;
    default:
      return decision satisfies never;
  }
}
