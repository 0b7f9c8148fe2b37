/** `earpiece forget`: erases the data of one agent. */
import type { LogKey } from '../../core/address.ts';
import { defined } from '../../core/defined.ts';
import { EarpieceError } from '../../core/errors.ts';
import type { Erased } from '../../core/ports.ts';
import { isForgotten } from '../../inbox/forgotten.ts';
import { fileOf, redacted } from '../../stores/open.ts';
import type { UserInbox } from '../../user-inbox.ts';
import type { Answer, CommandLine } from '../command-line.ts';
import { agentFrom, onlyAPerson, withDatabase, type GlobalOptions } from '../context.ts';
import { EXIT } from '../exit.ts';
import { agreed, isTerminal, nobodyToAsk } from '../setup/ask.ts';
import { complain, nameOf, plain, print, printJson } from '../terminal.ts';
import { whoAmI } from './change.ts';

type ForgetOptions = GlobalOptions & { readonly yes?: boolean; readonly force?: boolean };

export function forget(command: CommandLine, answer: Answer): void {
  command
    .description(
      'Erases the data of one agent from the database: records, transcript, notifications (even open ones), ' +
        'withheld results, conversations, tokens and settings. Also deletes the files of the agent in the archive. The command asks once. The data cannot be restored. ' +
        'The command is refused while a conversation of the agent is active.',
    )
    .option('--yes', 'do not ask')
    .option('--force', 'erase even while a conversation of the agent is active')
    .example('earpiece forget coder\nearpiece forget shop/coder --yes --json')
    .action(async (text: string, options: ForgetOptions) => {
      onlyAPerson('to erase an agent');
      await withDatabase(options, async (ear) => {
        const { log, conversation } = agentFrom(ear, text);
        if (conversation !== undefined)
          throw new EarpieceError(
            'bad_argument',
            `${log}#${conversation} is one conversation; forget erases a whole agent: earpiece forget ${log}`,
          );
        const what = await kept(ear, log);
        if (what.active.length > 0 && options.force !== true)
          throw new EarpieceError(
            'conflict',
            `${log} is active (${what.active.join(', ')}), so nothing was erased: end the conversation first, or add --force`,
          );
        if (options.yes !== true && (options.json === true || !isTerminal())) {
          complain(nobodyToAsk('nothing was erased', 'erase the data'));
          return answer(EXIT.usage.code);
        }
        if (options.yes !== true) {
          print(
            `The command erases ${nameOf(log)}: ${count(what.open, 'open notification')}, ${count(what.conversations, 'conversation')}, ${count(what.tokens.length, 'token')}, and all records of the agent.`,
          );
          if (!(await agreed("The command cannot be undone. Erase this agent's data? [y/N] ")))
            return print('nothing was erased');
        }
        const { readable, ...erased } = await erase(ear, log, what.tokens);
        const archived = await removeFromArchive(ear, log);
        const stays = staysOf(ear.config.db);
        if (options.json)
          return printJson({ log, ...erased, tokens: what.tokens.length, ...defined({ archived }), stays, readable });
        const { records, notifications, conversations, withheld } = erased;
        print(
          `erased ${nameOf(log)}: ${count(records, 'record')}, ${count(notifications, 'notification')}, ${count(conversations, 'conversation')}, ${count(withheld, 'withheld result')}, ${count(what.tokens.length, 'token')}`,
        );
        if (archived !== undefined) print(`removed ${count(archived.files, 'file')} of the archive ${plain(archived.folder)}`);
        if (readable.length > 0)
          complain(
            `the erased text is still readable in ${readable.map((file) => plain(file)).join(' and ')}, because another process uses the database. The text disappears when the last process has closed the database. To remove the text sooner, end that process, then run: earpiece db prune`,
          );
        print(`What stays:\n${stays.map((line) => `- ${line}`).join('\n')}`);
      });
    });
}

const staysOf = (db: string): readonly string[] => [
  'one record with the name of the agent and the time, so that no position in the log is used twice',
  'messages of this agent to other agents and to the project, because they belong to their receivers',
  'tasks of the project; to list the tasks: earpiece tasks list',
  'the transcripts of the coding agent itself, backups, archives in other folders, and files that Earpiece wrote for an installation',
  `data of this agent in other databases, because this command erased only from ${plain(redacted(db))}`,
  ...(fileOf(db) === undefined
    ? ['backups, replicas and logs of the database server, until the server itself removes the erased data from them']
    : []),
];

type Kept = {
  readonly open: number;
  readonly conversations: number;
  readonly active: readonly string[];
  readonly tokens: readonly string[];
};

/** Counts the data of an agent. Throws `not_found` if the database has no data of this agent. */
async function kept(ear: UserInbox, log: LogKey): Promise<Kept> {
  const { store } = ear;
  const presence = await store.presence({ log });
  const tokens = await tokensFor(ear, log);
  const past = (await store.read({ log, limit: 1 })).length === 0 || (await isForgotten(store, log));
  if (past && presence.length === 0 && tokens.length === 0)
    throw new EarpieceError('not_found', `there is no data of ${log}; earpiece agents --all lists the agents`);
  return {
    open: await store.countOpen(log),
    conversations: presence.length,
    active: presence.filter((each) => ear.isActive(each)).map(({ conversation }) => `#${conversation}`),
    tokens,
  };
}

async function erase(
  ear: UserInbox,
  log: LogKey,
  tokens: readonly string[],
): Promise<Erased & { readonly readable: readonly string[] }> {
  const { Tokens } = await import('../../server/tokens.ts');
  const all = new Tokens(ear);
  for (const id of tokens) await all.revoke(id);
  const record = { type: 'agent_forgotten', by: whoAmI() };
  const appended = await ear.store.append(log, [record]);
  if (appended.kind !== 'appended') throw new EarpieceError('conflict', `${log} keeps changing; try again`);
  const erased = await ear.store.erase(log, appended.records[0]?.seq ?? 0);
  // Only a SQLite store has `compact`, which names the files in which erased text stays readable. The files of a database server
  // are not checked.
  if (!('compact' in ear.store) || typeof ear.store.compact !== 'function') return { ...erased, readable: [] };
  const { readable } = await (ear.store.compact as () => Promise<{ readonly readable: readonly string[] }>)();
  return { ...erased, readable };
}

/**
 * Removes the files of the agent from the configured archive. Call this function after the records of the agent are erased:
 * until then, these records can be archived again.
 */
async function removeFromArchive(ear: UserInbox, log: LogKey): Promise<{ folder: string; files: number } | undefined> {
  const root = ear.config.archive;
  if (root === undefined || ear.store.private === true) return undefined;
  const { folderOf, placeOf, removeArchived } = await import('../../inbox/housekeeping/archive-folder.ts');
  try {
    return await removeArchived(ear.store, root, log);
  } catch (error) {
    const folder = placeOf(await folderOf(ear.store, root), log);
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new EarpieceError(
      'store_unavailable',
      `${log} is erased from the database, but its files in the archive ${folder} stay (${code}); remove that folder yourself`,
      { cause: error },
    );
  }
}

/** Lists the tokens that give access only to this agent. */
async function tokensFor(ear: UserInbox, log: LogKey): Promise<readonly string[]> {
  const { Tokens } = await import('../../server/tokens.ts');
  const all = await new Tokens(ear).list();
  return all.filter(({ project, agent }) => agent !== null && `${project}/${agent}` === log).map(({ id }) => id);
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
