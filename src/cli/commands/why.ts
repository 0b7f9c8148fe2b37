import type { Command } from 'commander';
import { EarpieceError } from '../../core/errors.ts';
import { formatKind } from '../../core/notification.ts';
import { agentFrom, withEarpiece, type GlobalOptions } from '../context.ts';
import { clock, level, paint, plain, print, printJson, table } from '../terminal.ts';

export function why(program: Command): void {
  program
    .command('why <id> [address]')
    .description('what happened to a notification, step by step, and why')
    .action(async (id: string, address: string | undefined, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      await withEarpiece(options, async (ear) => {
        const story = await ear.why(id, address === undefined ? undefined : agentFrom(ear, address).log);
        if (story === undefined)
          throw new EarpieceError(
            'not_found',
            `no notification ${JSON.stringify(id)}${address === undefined ? '' : ` for ${address}`}; earpiece log lists what there is`,
          );
        if (options.json) return printJson(story);
        for (const { item, receipt, steps, now } of story.items) {
          const n = item.notification;
          print(
            `${level(n.level)} ${paint('bold', formatKind(n.kind))} for ${plain(item.audience === '' ? story.log : `${story.log}#${item.audience}`)}: ${paint('bold', receipt)}`,
          );
          print(`  ${plain(n.message, 500)}`);
          print(
            table(steps.map((step) => [`  ${paint('dim', clock(step.at))}`, step.what, paint('dim', plain(step.detail ?? ''))]))
              .split('\n')
              .join('\n'),
          );
          for (const { conversation, decision } of now)
            print(
              paint(
                'dim',
                `  now, for ${plain(conversation)}: ${decision.kind === 'take' ? 'would ride on the next tool result' : `${decision.kind}, step ${decision.step}: ${decision.reason}`}`,
              ),
            );
        }
      });
    });
}
