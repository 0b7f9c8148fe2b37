/** What a person does with notifications that exist: take back, queue again, silence. */
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { EarpieceError } from '../../core/errors.ts';
import type { LogKey } from '../../core/address.ts';
import type { Earpiece } from '../../earpiece.ts';
import { agentFrom, durationOption, withEarpiece, type GlobalOptions } from '../context.ts';
import { EXIT } from '../exit.ts';
import { plain, print, printJson } from '../terminal.ts';

export function withdraw(program: Command, answer: (code: number) => void): void {
  program
    .command('withdraw [id]')
    .description('take a notification back; says whether it was in time')
    .option('--key <key>', 'every open one with this key')
    .option('--to <address>', 'of this agent (default: wherever the id is)')
    .option('--reason <text>', 'kept in the log', 'by hand')
    .action(async (id: string | undefined, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { key?: string; to?: string; reason: string }>();
      if ((id === undefined) === (options.key === undefined))
        throw new EarpieceError('bad_argument', 'withdraw takes either an id or --key');
      await withEarpiece(options, async (ear) => {
        const logs = await logsOf(ear, id, options.to);
        const results = [];
        for (const log of logs)
          results.push(
            ...(await ear.withdraw(log, id === undefined ? { key: options.key ?? '' } : { id }, {
              by: whoAmI(),
              reason: options.reason,
            })),
          );
        if (id === undefined && results.length === 0 && !options.json)
          print(`nothing open has the key ${plain(options.key ?? '')}`);
        for (const result of results) {
          if (options.json) printJson(result);
          else print(`${result.id}  ${result.result}`);
        }
        if (results.some(({ result }) => result === 'too_late')) answer(EXIT.ended.code);
      });
    });
}

export function requeue(program: Command): void {
  program
    .command('requeue <id>')
    .description('queue a closed notification again, under a new id')
    .option('--to <address>', 'of this agent (default: wherever the id is)')
    .action(async (id: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { to?: string }>();
      await withEarpiece(options, async (ear) => {
        for (const log of await logsOf(ear, id, options.to)) {
          const queued = await ear.requeue(log, id, whoAmI());
          if (options.json) printJson(queued);
          else print(`${queued.id}  ${queued.kind} for ${queued.to.map((to) => plain(to)).join(', ')}`);
        }
      });
    });
}

export function mute(program: Command): void {
  program
    .command('mute <pattern> <address>')
    .description('silence a kind for an agent: "*", a source, or source.name; critical ones of the core are not silenced')
    .option('--for <duration>', 'how long (default: until --off)')
    .option('--off', 'let it speak again')
    .action(async (pattern: string, address: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { for?: string; off?: boolean }>();
      if (!/^(\*|[\w-]+(\.\*|\.[\w.-]+)?)$/.test(pattern))
        throw new EarpieceError(
          'bad_argument',
          `pattern ${JSON.stringify(pattern)} is not "*", a source, "source.*" or "source.name"`,
        );
      await withEarpiece(options, async (ear) => {
        const { log } = agentFrom(ear, address);
        const forMs = options.for === undefined ? undefined : durationOption('--for', options.for);
        const mutes = await ear.mute(log, pattern, {
          by: whoAmI(),
          ...(forMs === undefined ? {} : { forMs }),
          ...(options.off ? { off: true } : {}),
        });
        if (options.json) return printJson({ log, mutes });
        print(
          mutes.length === 0
            ? `nothing is muted for ${log}`
            : mutes
                .map(
                  (m) =>
                    `${m.pattern}  muted for ${log}${m.until === null ? '' : ` until ${new Date(m.until).toLocaleString()}`}`,
                )
                .join('\n'),
        );
      });
    });
}

/** The logs that hold this id; all of them may (a fan-out). */
async function logsOf(ear: Earpiece, id: string | undefined, to: string | undefined): Promise<readonly LogKey[]> {
  if (to !== undefined) return [agentFrom(ear, to).log];
  const all = (await ear.store.overview()).map((o) => o.log);
  if (id === undefined) return all.filter((log) => log.startsWith(`${ear.project}/`));
  const holding: LogKey[] = [];
  for (const log of all) if ((await ear.store.items(log, { kind: 'ids', ids: [id as never] })).length > 0) holding.push(log);
  if (holding.length === 0)
    throw new EarpieceError('not_found', `no notification ${JSON.stringify(id)}; earpiece log lists what there is`);
  return holding;
}

function whoAmI(): string {
  try {
    return userInfo().username;
  } catch {
    return 'command line';
  }
}
