/** Finds the programs that use the databases of a migration, and asks a person before the migration stops their writes. */
import { policySource } from '../../config/index.ts';
import { EarpieceError } from '../../core/errors.ts';
import { Inbox } from '../../inbox/index.ts';
import type { End } from '../../stores/moving/port.ts';
import { openStore } from '../../stores/open.ts';
import { agreed, isTerminal } from '../setup/ask.ts';
import { plain, print } from '../terminal.ts';

type Ends = { readonly source: End; readonly target: End; readonly from: string };
type Asking = { readonly yes: boolean; readonly json: boolean };

/**
 * Asks whether to migrate although programs use the databases. Resolves with true for yes, and if no question is needed: with
 * `yes`, without such programs, and for a source that already refuses writes. Throws `bad_argument` if nobody can be asked.
 */
export async function mayMigrate({ source, target, from }: Ends, { yes, json }: Asking): Promise<boolean> {
  if (yes || (await source.find()).kind !== 'store') return true;
  const ofSource = [...(await agentsOf(from)), ...((await source.users?.()) ?? [])];
  const ofTarget = (await target.users?.()) ?? [];
  const used = [ofSource.length > 0 ? source.name : '', ofTarget.length > 0 ? target.name : ''].filter(Boolean).join(' and ');
  const users = [...new Set([...ofSource, ...ofTarget])];
  if (users.length === 0) return true;
  const more = users.length > MOST_NAMED ? [`${users.length - MOST_NAMED} more`] : [];
  const named = [...users.slice(0, MOST_NAMED), ...more];
  if (json || !isTerminal())
    throw new EarpieceError(
      'bad_argument',
      `${used} is in use by ${named.join(', ')}; from the start of the migration, the writes of these programs fail; stop them first, or add --yes`,
    );
  print(`These programs use ${plain(used)}:\n${named.map((user) => `  ${plain(user)}`).join('\n')}`);
  print('From the start of the migration, the database refuses their writes, and the tools and hooks of agents report errors.');
  return agreed('Stop these programs first. Migrate now? [y/N] ');
}

const MOST_NAMED = 8;

async function agentsOf(from: string): Promise<readonly string[]> {
  const policies = policySource({ cwd: process.cwd(), env: process.env });
  await using inbox = new Inbox({ store: await openStore(from), policies });
  const active = await inbox.active({});
  return active.map(({ log, conversation, host }) => `${log}#${conversation}${host === undefined ? '' : ` (${host})`}`);
}
